/** A text and a call, as servers send them; see `StreamAdapter.sample`. */
export const SAMPLE: readonly string[] = [
  '{"type":"message_start","message":{"id":"a","type":"message","role":"assistant","model":"a","content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}}',
  '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
  '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}',
  '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"b"}}',
  '{"type":"content_block_stop","index":0}',
  '{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","name":"a","input":{}}}',
  '{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{"}}',
]
