/** Faults of the catalogue that the engine can't meet, or can't decide on: each with the part whose tests have it. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  F007: 'client: read-ahead is bounded by the shell that reads, the engine queues nothing',
  F008: 'client: sockets and readers belong to the shell',
  F123: 'client: content coding is undone before the engine sees a byte',

  F125: 'tools: executed once, by the ledger',
  F131: 'gateway: whether to fall back is a policy of the route',
  F132: 'client: back-off and its abort happen between two engines',
  F133: 'gateway: resumption and its event ids',
  F135: 'gateway: stopping a stream that outlives its connection',
  F136: 'tools: approval binds to a call and its arguments',

  F181: 'gateway: a client that hangs up',
  F192: 'gateway: no client can tell an error that was turned into text',
  F193: 'server: encoding a stream for another API',
  F194: 'server: truncation survives the change of API',
  F197: 'recording: reads, times and the end are kept as they were',

  F208: 'client: iterating over text alone throws',
  F209: 'client: a callback that throws',
}
