import { Store } from "../store";

/** The user's limits for a question, as typed; empty means the server's default. */
export interface RunOptions {
  maxCostChf: string;
  maxRounds: string;
  model: string;
}

const KEY = "werkbank.runOptions";
const NONE: RunOptions = { maxCostChf: "", maxRounds: "", model: "" };

export const runOptions = new Store<RunOptions>(stored());

export function chooseOptions(change: Partial<RunOptions>): void {
  runOptions.update((options) => ({ ...options, ...change }));
  localStorage.setItem(KEY, JSON.stringify(runOptions.get()));
}

/** The `config` of a run frame: only what was set, and set to something sensible. */
export function configOf({ maxCostChf, maxRounds, model }: RunOptions): Record<string, string | number> {
  const cost = Number(maxCostChf.replace(",", "."));
  const rounds = Number(maxRounds);
  return {
    ...(cost > 0 ? { maxCostCHF: String(cost) } : {}),
    ...(Number.isInteger(rounds) && rounds >= 1 && rounds <= 100 ? { maxRounds: rounds } : {}),
    ...(model ? { model } : {}),
  };
}

function stored(): RunOptions {
  const value = globalThis.localStorage?.getItem(KEY);
  return value ? { ...NONE, ...(JSON.parse(value) as Partial<RunOptions>) } : NONE;
}
