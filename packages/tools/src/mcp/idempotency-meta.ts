/**
 * Member of a call's `_meta` that holds its idempotency key. MCP has no field of its own for one; servers that know ours can
 * tell a repeated call from a new one.
 */
export const IDEMPOTENCY_KEY_META = 'streamfold/idempotency-key'
