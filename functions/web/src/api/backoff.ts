const BASE_MS = 500;
const LONGEST_MS = 30_000;

/** Exponential backoff with full jitter: between 0 and min(30 s, 0.5 s · 2^attempt). `random` is in [0, 1). */
export function backoffMs(attempt: number, random: number): number {
  return Math.round(random * Math.min(LONGEST_MS, BASE_MS * 2 ** Math.min(attempt, 16)));
}
