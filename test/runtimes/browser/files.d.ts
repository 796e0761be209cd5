/** Made by `vitest.browser.config.js`. */
declare module 'virtual:files' {
  /** Path of the repository, with a slash at its end. */
  export const ROOT: string
  /** Path → content in base64. */
  export const FILES: Readonly<Record<string, string>>
}
