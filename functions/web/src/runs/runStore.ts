import { Store } from "../store";
import { parseEvent, type RunEvent } from "./events";
import { applyEvent, type EventOf, hasGap, newRun, type RunState, tellFiller } from "./runState";

/** After this long without an event an unfinished run is asked for again: a push may have been lost. */
const SILENCE_MS = 10_000;
const WATCH_EVERY_MS = 2_000;
/** Events that overtook each other get this long to arrive before the missing ones are asked for. */
const GAP_PATIENCE_MS = 300;
/** Events within this time are shown together. */
const SHOW_EVERY_MS = 30;

export interface RunFrame {
  action: "run";
  runId: string;
  workflowId: string | null;
  prompt: string;
  fileIds: readonly string[];
  dataSourceIds: readonly string[];
  instanceId: string | null;
  config: Record<string, string | number>;
}

export interface RunHooks {
  send(frame: object): boolean;
  onStarted(run: RunState): void;
  onEnded(run: RunState): void;
}

/** The runs that are on the page, each kept up to date whatever happens to the connection. */
export class RunStore {
  readonly runs = new Store<ReadonlyMap<string, RunState>>(new Map());
  readonly #hooks: RunHooks;
  #latest = new Map<string, RunState>();
  /** Frames the server has not answered yet. The run id makes sending one again harmless. */
  readonly #unanswered = new Map<string, RunFrame>();
  readonly #heardAt = new Map<string, number>();
  readonly #gapTimers = new Map<string, ReturnType<typeof setTimeout>>();
  #showTimer: ReturnType<typeof setTimeout> | undefined;
  #watchTimer: ReturnType<typeof setInterval> | undefined;

  constructor(hooks: RunHooks) {
    this.#hooks = hooks;
  }

  start = (): void => {
    this.#watchTimer = setInterval(this.#watch, WATCH_EVERY_MS);
  };

  stop = (): void => {
    clearInterval(this.#watchTimer);
    clearTimeout(this.#showTimer);
    for (const timer of this.#gapTimers.values()) clearTimeout(timer);
  };

  isUnfinished = (runId: string | undefined): boolean => {
    const run = this.#latest.get(runId ?? "");
    return run !== undefined && run.end === null;
  };

  has = (runId: string): boolean => this.#latest.has(runId);

  /** Asks a question. False when there is no connection: nothing is kept then. */
  ask = (frame: RunFrame): boolean => {
    if (!this.#hooks.send(frame)) return false;
    this.#unanswered.set(frame.runId, frame);
    this.#keep(newRun(frame.runId));
    return true;
  };

  /** Takes up a run that goes on elsewhere (a reload, another tab) from its first event. */
  follow = (runId: string): void => {
    if (this.has(runId)) return;
    this.#keep(newRun(runId));
    this.#catchUp(runId);
  };

  /** Shows a finished run as its stored messages tell it. */
  show = (run: RunState): void => this.#keep(run);

  /** Tells a finished run in full by its stored events, unless they are incomplete. */
  replay = (runId: string, events: readonly unknown[]): void => {
    const parsed = events.map(parseEvent).filter((event) => event !== null);
    const run = parsed.reduce(applyEvent, newRun(runId));
    if (run.end) this.#keep(run);
  };

  /** Ends a run that the server does not know. */
  fail = (runId: string, title: string, detail: string): void => {
    const run = this.#latest.get(runId);
    if (run && !run.end) this.#keep({ ...run, end: { kind: "error", title, detail, retryable: false } });
  };

  /** Forgets a question that the server refused, and gives it back. */
  withdraw = (runId: string): RunFrame | null => {
    const frame = this.#unanswered.get(runId) ?? null;
    this.#unanswered.delete(runId);
    this.#latest.delete(runId);
    this.#publish();
    return frame;
  };

  /** The only question the server has not answered yet, if there is exactly one. */
  onlyUnanswered = (): string | null => {
    const [first, ...others] = this.#unanswered.keys();
    return first !== undefined && others.length === 0 ? first : null;
  };

  receive = (event: RunEvent): void => {
    const before = this.#latest.get(event.runId);
    if (!before) return;
    const after = applyEvent(before, event);
    if (after === before) return;
    this.#unanswered.delete(event.runId);
    this.#keep(after);
    if (hasGap(after)) this.#awaitGap(event.runId, after.lastSeq);
    if (!before.workflowId && after.workflowId) this.#hooks.onStarted(after);
    if (!before.end && after.end) this.#hooks.onEnded(after);
  };

  /** Takes what is told of a run beside its log. */
  tell = (event: EventOf<"filler">): void => {
    const run = this.#latest.get(event.runId);
    if (run) this.#keep(tellFiller(run, event));
  };

  /** Asks for the rest of what was missed. */
  goOn = (runId: string): void => {
    if (this.isUnfinished(runId)) this.#catchUp(runId);
  };

  /** To be called on every new connection. */
  resumeAll = (): void => {
    for (const run of this.#latest.values()) if (!run.end) this.#catchUp(run.runId);
  };

  #keep(run: RunState): void {
    this.#latest.set(run.runId, run);
    this.#heardAt.set(run.runId, Date.now());
    this.#publish();
  }

  #catchUp(runId: string): void {
    this.#heardAt.set(runId, Date.now());
    const afterSeq = this.#latest.get(runId)?.lastSeq ?? 0;
    this.#hooks.send(this.#unanswered.get(runId) ?? { action: "resume", runId, afterSeq });
  }

  #awaitGap(runId: string, lastSeq: number): void {
    clearTimeout(this.#gapTimers.get(runId));
    const ask = () => {
      const run = this.#latest.get(runId);
      if (run && hasGap(run) && run.lastSeq === lastSeq) this.#catchUp(runId);
    };
    this.#gapTimers.set(runId, setTimeout(ask, GAP_PATIENCE_MS));
  }

  #watch = (): void => {
    const silentSince = Date.now() - SILENCE_MS;
    for (const run of this.#latest.values()) {
      if (!run.end && (this.#heardAt.get(run.runId) ?? 0) < silentSince) this.#catchUp(run.runId);
    }
  };

  #publish(): void {
    this.#showTimer ??= setTimeout(() => {
      this.#showTimer = undefined;
      this.runs.set(new Map(this.#latest));
    }, SHOW_EVERY_MS);
  }
}
