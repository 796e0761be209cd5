import { isPlaceholder, placeholderFor } from './header-redaction.ts'

const USER_INFO = /^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i
const SECRET_NAME = /key|token|sig|secret|passw|auth|cred|code|jwt|session/i

/** Takes the user and the values of telling parameters out of a URL; the rest keeps its spelling. */
export function redactUrl(url: string): string {
  const [, before = '', query, fragment = ''] = /^([^?#]*)(?:\?([^#]*))?(#.*)?$/s.exec(url) ?? [undefined, url]
  const bare = before.replace(USER_INFO, '$1redacted@')
  // A fragment never goes over the wire; where there is one, it was put there by hand.
  const rest = fragment === '' ? '' : '#redacted'
  return query === undefined ? bare + rest : `${bare}?${query.split('&').map(redactParameter).join('&')}${rest}`
}

function redactParameter(parameter: string): string {
  const at = parameter.indexOf('=')
  if (at < 0 || !SECRET_NAME.test(parameter.slice(0, at))) return parameter
  const value = parameter.slice(at + 1)
  return isPlaceholder(value) ? parameter : `${parameter.slice(0, at)}=${placeholderFor(value)}`
}
