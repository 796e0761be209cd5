/** Tests that a page can't run, each with the reason; `run.mjs` looks that every file is there. */
export const NOT_IN_A_BROWSER = {
  'packages/core/test/client/response-stream.test.ts': 'starts servers (node:http)',
  'packages/core/test/server/send-event-stream.test.ts': 'starts servers (node:http)',
  'packages/core/test/testing/fake-endpoint.test.ts': 'starts servers (node:http)',
  'packages/core/test/types/public-api.test.ts': 'runs the compiler (node:child_process)',
}
