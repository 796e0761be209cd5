/** Made up, and put together here, so that no scanner mistakes this file for a leak. */
const joined = (...parts: readonly string[]): string => parts.join('')

export const SK: string = joined('sk', '-proj-', 'T0pSecret4bcdefgh1jklmnop')
export const GOOGLE: string = joined('AI', 'za', 'Sy0123456789abcdefghijklmnopqrstuv')
export const AWS: string = joined('AK', 'IA', '0123456789ABCDEF')
export const GITHUB: string = joined('gh', 'p_', '0123456789abcdefghijklmnopqrstuvwxyz')
/** Longer than what a detector looks at. */
export const JWT: string = [
  btoa('{"alg":"HS256","typ":"JWT"}'),
  btoa('{"sub":"1234567890"}'),
  joined('c2lnbmF0dXJl_-', 'x'.repeat(900)),
]
  .join('.')
  .replaceAll('=', '')
/** As it stands in a JSON text. */
export const PEM: string = joined(
  '-----BEGIN RSA PRIV',
  'ATE KEY-----',
  String.raw`\nMIIEpAIBAAKCAQEA`,
  'A1b2'.repeat(400),
  String.raw`\n-----END RSA PRIV`,
  'ATE KEY-----',
)
