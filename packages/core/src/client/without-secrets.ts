/** An address as it may be shown: some people put keys into it. */
export function withoutSecrets(url: string): string {
  return url.replace(/^(\w+:\/\/)[^/@]*@/, '$1').replace(/[?#].*$/s, '')
}
