/** A text and a call, as servers send them; see `StreamAdapter.sample`. */
export const SAMPLE: readonly string[] = [
  '{"text":"a"}',
  '{"text":"b"}',
  '{"functionCall":{"id":"a","name":"a","args":{"a":"b"}}}',
].map(
  (part) =>
    `{"candidates":[{"content":{"parts":[${part}],"role":"model"},"index":0}],"modelVersion":"a","responseId":"a"}`,
)
