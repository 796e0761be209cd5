/** In milliseconds, about 24 days. A timer that is set for longer goes off at once. */
export const LONGEST_TIMER_MS: number = 2 ** 31 - 1
