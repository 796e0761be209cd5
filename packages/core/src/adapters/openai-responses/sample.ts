/** A text and a call, as servers send them; see `StreamAdapter.sample`. */
export const SAMPLE: readonly string[] = [
  '{"type":"response.created","sequence_number":0,"response":{"id":"a","object":"response","status":"in_progress","model":"a","output":[],"usage":null}}',
  '{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"a","type":"message","status":"in_progress","role":"assistant","content":[]}}',
  '{"type":"response.content_part.added","sequence_number":2,"item_id":"a","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}',
  '{"type":"response.output_text.delta","sequence_number":3,"item_id":"a","output_index":0,"content_index":0,"delta":"a"}',
  '{"type":"response.output_text.delta","sequence_number":4,"item_id":"a","output_index":0,"content_index":0,"delta":"b"}',
  '{"type":"response.output_item.added","sequence_number":5,"output_index":1,"item":{"id":"b","type":"function_call","status":"in_progress","call_id":"a","name":"a","arguments":""}}',
  '{"type":"response.function_call_arguments.delta","sequence_number":6,"item_id":"b","output_index":1,"delta":"{"}',
]
