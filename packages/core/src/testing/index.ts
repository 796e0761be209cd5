export { expectStream, StreamAssertionError } from './expect-stream.ts'
export type { ExpectedCall, StreamExpectation } from './expect-stream.ts'
export { startFakeEndpoint } from './fake-endpoint.ts'
export type { FakeAnswer, FakeEndpoint, FakeRequest, FakeStep } from './fake-endpoint.ts'
