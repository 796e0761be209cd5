/** A text and a call, as servers send them; see `StreamAdapter.sample`. */
export const SAMPLE: readonly string[] = [
  '{"role":"assistant","content":""}',
  '{"content":"a"}',
  '{"content":"b"}',
  '{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"a","arguments":""}}]}',
  '{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]}',
].map(
  (delta) =>
    `{"id":"a","object":"chat.completion.chunk","created":0,"model":"a","choices":[{"index":0,"delta":${delta},"finish_reason":null}]}`,
)
