import { writeSync } from 'node:fs'
import { openLedger } from '../src/ledger/index.ts'
import type { CallStanding } from '../src/ledger/release-request.ts'
import { openStore } from '../src/store/index.ts'
import { sha256Hex } from '../src/validate/sha256.ts'
import { TENANT } from './protocol.ts'

/** Records one execution after the other, and says so on standard output after each commit. */
const [, , path = '', count = '0'] = process.argv
const ledger = await openLedger(await openStore(path))

function claimOf(standing: CallStanding | undefined) {
  if (standing?.kind !== 'claimed') throw new Error(`not claimed but ${standing?.kind}`)
  return standing.claim
}

for (let turn = 1; turn <= Number(count); turn += 1) {
  const inputJson = JSON.stringify({ turn, text: 'x'.repeat((turn * 397) % 3000) })
  const call = { ordinal: 0, callId: 'c', tool: 't', inputJson, argumentsHash: sha256Hex(inputJson) }
  const { calls } = await ledger.release({
    tenant: TENANT,
    runId: 'run',
    turn,
    choice: 0,
    calls: [{ ...call, verdict: 'pass', effect: 'unsafe' }],
    contextJson: '{}',
    policy: 'hold-all',
    owner: 'worker',
    leaseMs: 60_000,
    claimLimit: 1,
  })
  const claim = claimOf(calls[0])
  writeSync(1, `begun ${turn}\n`)
  await ledger.finish(claim, { state: 'succeeded', result: String(turn), truncated: false })
  writeSync(1, `done ${turn}\n`)
}
process.exit(0)
