import { EFFECTS } from '../define/tool.ts'
import { guard } from '../store/dialect.ts'
import type { Dialect } from '../store/dialect.ts'
import type { Migration } from '../store/migrate.ts'
import {
  BATCH_MOVES,
  BATCH_STATES,
  CALL_MOVES,
  CALL_STATES,
  EXECUTION_MOVES,
  EXECUTION_STATES,
  illegalMove,
  sqlWords,
} from './states.ts'

const CALL_KEY = 'tenant, run_id, turn, choice_ix, ordinal'

function tables(dialect: Dialect): readonly string[] {
  return [
    // One job of an agent; the switch that cancels it.
    `create table streamfold_run(
      tenant text not null, run_id text not null, last_turn integer not null default 0, input text,
      cancelled_at bigint, cancelled_by text, created_at bigint not null,
      primary key(tenant, run_id))`,
    // One request to the model. The number is taken before the request is sent, so an abandoned one can't come back.
    `create table streamfold_turn(
      tenant text not null, run_id text not null, turn integer not null, answer text, outcome text,
      created_at bigint not null, answered_at bigint,
      primary key(tenant, run_id, turn))`,
    // The calls of one choice of one answer.
    `create table streamfold_batch(
      tenant text not null, run_id text not null, turn integer not null, choice_ix integer not null,
      expected integer not null, state text not null check(state in ${sqlWords(BATCH_STATES)}),
      created_at bigint not null, decided_at bigint,
      primary key(tenant, run_id, turn, choice_ix))`,
    // What the model asked for. Workers do not touch it; a refused call has a row here and none in execution.
    `create table streamfold_call(
      tenant text not null, run_id text not null, turn integer not null, choice_ix integer not null,
      ordinal integer not null, call_id text not null, tool text not null, args text not null, args_hash text not null,
      op_key text, effect text check(effect in ${sqlWords(EFFECTS)}),
      state text not null check(state in ${sqlWords(CALL_STATES)}),
      code text, phase text, reason text, policy_rev text, created_at bigint not null,
      primary key(${CALL_KEY}), unique(tenant, run_id, turn, choice_ix, call_id))`,
    'create index streamfold_call_key on streamfold_call(tenant, op_key)',
    // Bound to one call and its exact arguments, answered once, used once.
    `create table streamfold_approval(
      tenant text not null, approval_id text not null, run_id text not null, turn integer not null,
      choice_ix integer not null, ordinal integer not null, call_id text not null, tool text not null,
      args_hash text not null, shown text not null, reason text not null,
      decision text check(decision in ('allow', 'deny')), decided_by text, decided_at bigint, note text,
      expires_at bigint not null, consumed_at bigint, created_at bigint not null,
      primary key(tenant, approval_id), unique(${CALL_KEY}))`,
    `create index streamfold_approval_open on streamfold_approval(tenant, created_at) where decision is null`,
    // The ledger proper: what was done to the world.
    `create table streamfold_execution(
      tenant text not null, op_key text not null, tool text not null, args text not null, args_hash text not null,
      effect text not null check(effect in ${sqlWords(EFFECTS)}), run_id text not null, turn integer not null,
      choice_ix integer not null, call_id text not null, context text not null,
      state text not null check(state in ${sqlWords(EXECUTION_STATES)}),
      fence integer not null, owner text, lease_until bigint, code text, message text, result text, result_hash text,
      truncated integer not null default 0, created_at bigint not null, started_at bigint, finished_at bigint,
      pruned_at bigint,
      primary key(tenant, op_key),
      check((state = 'ready') = (fence = 0)),
      check(state <> 'executing' or (owner is not null and lease_until is not null)),
      check(state not in ('succeeded', 'failed') or finished_at is not null))`,
    "create index streamfold_execution_ready on streamfold_execution(tenant, created_at) where state = 'ready'",
    "create index streamfold_execution_lease on streamfold_execution(tenant, lease_until) where state = 'executing'",
    "create index streamfold_execution_unknown on streamfold_execution(tenant, created_at) where state = 'unknown'",
    // One row per claim: evidence, also of outcomes that came too late to count.
    `create table streamfold_attempt(
      tenant text not null, op_key text not null, fence integer not null, owner text not null,
      started_at bigint not null, ended_at bigint, outcome text, detail text,
      late_at bigint, late_outcome text, late_hash text,
      primary key(tenant, op_key, fence))`,
    // The trail: who moved what when. Hashes and lengths; what was in arguments and results is not in it.
    `create table streamfold_audit(
      seq ${dialect.identity}, tenant text not null, at bigint not null, event text not null,
      run_id text, turn integer, choice_ix integer, call_id text, op_key text, tool text,
      state text, code text, args_hash text, args_bytes integer, result_hash text, result_bytes integer,
      owner text, fence integer, actor text, detail text)`,
    'create index streamfold_audit_run on streamfold_audit(tenant, run_id, seq)',
    'create index streamfold_audit_key on streamfold_audit(tenant, op_key, seq)',
  ]
}

const EXECUTION = 'streamfold_execution'

type Guard = (
  name: string,
  event: 'insert' | 'update' | 'delete',
  table: string,
  when: string,
  message: string,
) => readonly string[]

function guardOf(dialect: Dialect): Guard {
  return (name, ...rule) => guard(dialect, `streamfold_guard_${name}`, ...rule)
}

/** Rules that hold for whoever writes, a person with a database client included. */
function guards(dialect: Dialect): readonly string[] {
  const on = guardOf(dialect)
  return [
    ...on('execution_new', 'insert', EXECUTION, "NEW.state <> 'ready'", 'an execution begins as ready'),
    ...on('execution_state', 'update', EXECUTION, illegalMove(EXECUTION_MOVES), 'this state may not follow that one'),
    ...on(
      'execution_fence',
      'update',
      EXECUTION,
      "(NEW.fence <> OLD.fence or NEW.state = 'executing' and (OLD.state = 'ready' or NEW.owner <> OLD.owner)) " +
        "and not (NEW.fence = OLD.fence + 1 and NEW.state = 'executing')",
      'a claim raises the fence by one, and nothing else does',
    ),
    ...on(
      'execution_unsafe',
      'update',
      EXECUTION,
      "OLD.effect = 'unsafe' and OLD.state = 'executing' and NEW.fence <> OLD.fence",
      'an unsafe execution is never claimed twice',
    ),
    ...on(
      'execution_identity',
      'update',
      EXECUTION,
      'NEW.tenant <> OLD.tenant or NEW.op_key <> OLD.op_key or NEW.tool <> OLD.tool or NEW.args_hash <> OLD.args_hash ' +
        'or NEW.effect <> OLD.effect or NEW.run_id <> OLD.run_id or (NEW.args <> OLD.args and NEW.pruned_at is null)',
      'what an execution is about never changes',
    ),
    ...on(
      'execution_final',
      'update',
      EXECUTION,
      "OLD.state in ('succeeded', 'failed') and (OLD.pruned_at is not null or NEW.pruned_at is null)",
      'a settled execution never changes',
    ),
    // Only what nobody ever began can be taken back; that is how a cancelled operation frees its key.
    ...on('execution_gone', 'delete', EXECUTION, "OLD.state <> 'ready'", 'an execution that was begun stays'),
    ...on('call_state', 'update', 'streamfold_call', illegalMove(CALL_MOVES), 'this state may not follow that one'),
    ...on(
      'call_identity',
      'update',
      'streamfold_call',
      'NEW.args_hash <> OLD.args_hash or NEW.tool <> OLD.tool or NEW.call_id <> OLD.call_id or NEW.op_key <> OLD.op_key',
      'what a call is about never changes',
    ),
    ...on('batch_state', 'update', 'streamfold_batch', illegalMove(BATCH_MOVES), 'this state may not follow that one'),
    ...on(
      'approval',
      'update',
      'streamfold_approval',
      'NEW.args_hash <> OLD.args_hash or NEW.tool <> OLD.tool or NEW.call_id <> OLD.call_id ' +
        'or NEW.expires_at <> OLD.expires_at or (OLD.decision is not null and NEW.decision <> OLD.decision) ' +
        'or OLD.consumed_at is not null ' +
        "or (NEW.consumed_at is not null and (NEW.decision is null or NEW.decision <> 'allow'))",
      'an approval is answered once, used once, and for one call only',
    ),
    ...on(
      'run_cancelled',
      'update',
      'streamfold_run',
      'OLD.cancelled_at is not null and (NEW.cancelled_at is null or NEW.cancelled_at <> OLD.cancelled_at)',
      'a cancelled run stays cancelled',
    ),
    ...on('run_turn', 'update', 'streamfold_run', 'NEW.last_turn < OLD.last_turn', 'turn numbers only grow'),
    ...on(
      'attempt',
      'update',
      'streamfold_attempt',
      'OLD.owner <> NEW.owner or (OLD.outcome is not null and NEW.outcome <> OLD.outcome)',
      'the outcome of an attempt is written once',
    ),
    ...on('attempt_gone', 'delete', 'streamfold_attempt', '1 = 1', 'evidence stays'),
    ...on('audit', 'update', 'streamfold_audit', '1 = 1', 'the trail is only added to'),
  ]
}

/**
 * What the first guards let through: to SQL a comparison with null is neither true nor false, so an answer could be taken back
 * to null and given anew.
 */
function strictGuards(dialect: Dialect): readonly string[] {
  const on = guardOf(dialect)
  return [
    ...on(
      'approval_place',
      'update',
      'streamfold_approval',
      changed('tenant', 'approval_id', 'run_id', 'turn', 'choice_ix', 'ordinal', 'shown', 'reason'),
      'what an approval is about never changes',
    ),
    ...on(
      'approval_answer',
      'update',
      'streamfold_approval',
      `OLD.decision is not null and (${changed('decision', 'decided_by', 'decided_at')})`,
      'an approval is answered once',
    ),
    ...on(
      'approval_new',
      'insert',
      'streamfold_approval',
      'NEW.decision is not null or NEW.consumed_at is not null',
      'an approval begins without an answer',
    ),
    ...on('approval_gone', 'delete', 'streamfold_approval', '1 = 1', 'evidence stays'),
    ...on(
      'call_new',
      'insert',
      'streamfold_call',
      "NEW.state = 'released'",
      'a call is released after it was recorded',
    ),
    ...on(
      'call_place',
      'update',
      'streamfold_call',
      `${changed('tenant', 'run_id', 'turn', 'choice_ix', 'ordinal', 'op_key', 'effect')} ` +
        "or (NEW.args <> OLD.args and NEW.args <> '')",
      'what a call is about never changes',
    ),
    ...on('batch_new', 'insert', 'streamfold_batch', "NEW.state <> 'open'", 'a batch begins as open'),
    ...on(
      'execution_place',
      'update',
      EXECUTION,
      changed('turn', 'choice_ix', 'call_id', 'context', 'created_at'),
      'what an execution is about never changes',
    ),
    ...on(
      'execution_pruned',
      'update',
      EXECUTION,
      `NEW.pruned_at is not null and (NEW.args <> '' or NEW.result is not null or ` +
        `${changed('code', 'message', 'result_hash', 'finished_at', 'truncated')} or ` +
        "OLD.state not in ('succeeded', 'failed'))",
      'pruning drops contents of what is settled, and changes nothing else',
    ),
    ...on(
      'attempt_once',
      'update',
      'streamfold_attempt',
      `${changed('tenant', 'op_key', 'fence', 'started_at')} or ` +
        `(OLD.outcome is not null and (${changed('outcome', 'ended_at')})) or ` +
        `(OLD.late_at is not null and (${changed('late_at', 'late_outcome', 'late_hash')}))`,
      'the outcome of an attempt is written once',
    ),
    ...on('audit_gone', 'delete', 'streamfold_audit', '1 = 1', 'the trail is only added to'),
  ]
}

/** SQL condition over OLD and NEW: one of the columns changes, null included. */
function changed(...columns: readonly string[]): string {
  return columns.map((column) => `NEW.${column} is distinct from OLD.${column}`).join(' or ')
}

export const LEDGER_MIGRATIONS: readonly Migration[] = [
  { version: 1, name: 'ledger', statements: (dialect) => [...tables(dialect), ...guards(dialect)] },
  { version: 2, name: 'strict guards', statements: strictGuards },
]
