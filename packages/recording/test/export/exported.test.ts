import { adapterFor, createStreamEngine } from 'streamfold'
import type { StreamReport } from 'streamfold'
import { readRecordings, replayInto, requestFactsOf } from 'streamfold/recording'
import { expect, test } from 'vitest'

const [recording] = readRecordings(
  [
    '{"t":"head","format":"streamfold/recording","v":1,"id":"r1","created":"2026-11-30T15:02:55.000Z","by":"test","level":"http-data","body":"decoded","labels":{"a":"b"}}',
    '{"t":"req","at":0,"method":"POST","url":"https://a.example/v1/chat/completions?a=1","headers":[["Content-Type","application/json"]],"len":7,"s":"{\\"n\\":1}"}',
    '{"t":"res","at":100000,"status":200,"headers":[["Content-Type","text/event-stream"],["X","1"],["x","2"]],"reason":"OK"}',
    '{"t":"b","at":120001,"off":0,"len":127,"x":"OiBwaW5nCgpkYXRhOiB7ImlkIjoiYzEiLCJvYmplY3QiOiJjaGF0LmNvbXBsZXRpb24uY2h1bmsiLCJtb2RlbCI6Im0iLCJjaG9pY2VzIjpbeyJpbmRleCI6MCwiZGVsdGEiOnsiY29udGVudCI6Ijwvc2NyaXB0PjxiPlwiww=="}',
    '{"t":"note","s":"kept"}',
    '{"t":"b","at":180000,"off":127,"len":388,"x":"qSJ9LCJmaW5pc2hfcmVhc29uIjpudWxsfV19CgpkYXRhOiB7ImlkIjoiYzEiLCJvYmplY3QiOiJjaGF0LmNvbXBsZXRpb24uY2h1bmsiLCJtb2RlbCI6Im0iLCJjaG9pY2VzIjpbeyJpbmRleCI6MCwiZGVsdGEiOnsidG9vbF9jYWxscyI6W3siaW5kZXgiOjAsImlkIjoiY2FsbF8xIiwiZnVuY3Rpb24iOnsibmFtZSI6ImFkZCIsImFyZ3VtZW50cyI6IntcImFcIjpcIml0J3NcIn0ifX1dfSwiZmluaXNoX3JlYXNvbiI6bnVsbH1dfQoKZGF0YTogeyJpZCI6ImMxIiwib2JqZWN0IjoiY2hhdC5jb21wbGV0aW9uLmNodW5rIiwibW9kZWwiOiJtIiwiY2hvaWNlcyI6W3siaW5kZXgiOjAsImRlbHRhIjp7fSwiZmluaXNoX3JlYXNvbiI6InRvb2xfY2FsbHMifV19CgpkYXRhOiBbRE9ORV0KCg=="}',
    '{"t":"end","at":200000,"kind":"complete","bytes":515,"reads":2,"sha256":"7a75bd18668395ffe382137a99cfb4646cc22e67f4d8dc944040f176ea01b812"}',
  ].join('\n'),
)

function play(readLength: number): StreamReport {
  const engine = createStreamEngine({
    adapter: adapterFor('chat_completions'),
    request: requestFactsOf(recording!.request),
  })
  const reads = recording!.reads.flatMap((read) =>
    Array.from({ length: Math.ceil(read.bytes.length / readLength) }, (_, at) => ({
      ...read,
      bytes: read.bytes.subarray(at * readLength, (at + 1) * readLength),
    })),
  )
  replayInto(engine, { ...recording!, reads })
  return engine.report({ kind: 'recording' })
}

test.each([Number.MAX_SAFE_INTEGER, 1])('POST /v1/chat/completions, in reads of at most %d bytes', (readLength) => {
  const { outcome, error, choices } = play(readLength)
  expect(outcome).toBe('completed')
  expect(error?.code ?? null).toBe(null)
  const calls = choices.flatMap(({ toolCalls }) => toolCalls)
  expect(calls.map(({ name, argumentsText, state, code }) => ({ name, argumentsText, state, code }))).toEqual([
    {
      name: 'add',
      argumentsText: '{"a":"it\'s"}',
      state: 'complete',
      code: null,
    },
  ])
})
