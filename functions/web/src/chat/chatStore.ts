import type { ApiClient } from "../api/client";
import { Problem } from "../api/problem";
import type { RunRow, StoredMessage, WorkflowDetail } from "../api/types";
import { formatBytes } from "../i18n/format";
import { text } from "../i18n/language";
import type { RunState } from "../runs/runState";
import type { RunFrame, RunStore } from "../runs/runStore";
import { runFromMessages } from "../runs/storedRun";
import { Store } from "../store";
import { attempt, tell, tellProblem } from "../ui/toasts";
import { type Draft, EMPTY_DRAFT, loadDraft, mergeDrafts, saveDraft } from "./draft";
import { configOf, runOptions } from "./runOptions";

/** A question and, by its run, the answer. */
export interface Turn {
  runId: string;
  prompt: string;
  fileIds: readonly string[];
  /** Null until the question is stored. */
  messageId: string | null;
  /** Later questions are always told of it. */
  pinned: boolean;
}

export interface ChatState {
  workflowId: string | null;
  title: string;
  turns: readonly Turn[];
  loading: boolean;
  sending: boolean;
}

export interface ChatHooks {
  /** Resolves to whether there is a connection, after waiting for one a little. */
  connected(): Promise<boolean>;
  onRoute(workflowId: string): void;
}

/** API Gateway closes the connection on a larger WebSocket frame. */
const LONGEST_FRAME_BYTES = 32_000;

const EMPTY: ChatState = { workflowId: null, title: "", turns: [], loading: false, sending: false };

/** The conversation that is open, and the question being written in it. */
export class ChatStore {
  readonly state = new Store<ChatState>(EMPTY);
  readonly draft = new Store<Draft>(EMPTY_DRAFT);
  readonly #api: ApiClient;
  readonly #runs: RunStore;
  readonly #hooks: ChatHooks;

  constructor(api: ApiClient, runs: RunStore, hooks: ChatHooks) {
    this.#api = api;
    this.#runs = runs;
    this.#hooks = hooks;
    this.draft.subscribe(() => saveDraft(this.state.get().workflowId, this.draft.get()));
  }

  open = async (workflowId: string | null): Promise<void> => {
    this.state.set({ ...EMPTY, workflowId, loading: workflowId !== null });
    this.draft.set(loadDraft(workflowId));
    if (workflowId !== null) await this.reload();
  };

  /** Fetches the open conversation anew; what is on the page stays until then. */
  reload = async (): Promise<void> => {
    const { workflowId } = this.state.get();
    if (workflowId === null) return;
    try {
      const detail = await this.#api.workflow(workflowId);
      if (this.state.get().workflowId === workflowId) this.#show(detail);
    } catch (error) {
      if (this.state.get().workflowId !== workflowId) return;
      this.#change({ loading: false });
      if (error instanceof Problem) tell(text("chat.loadFailed"), error.detail);
      else tellProblem(error);
    }
  };

  attach = (fileId: string): void => {
    this.draft.update((draft) => ({ ...draft, fileIds: [...new Set([...draft.fileIds, fileId])] }));
  };

  detach = (fileId: string): void => {
    this.draft.update((draft) => ({ ...draft, fileIds: draft.fileIds.filter((id) => id !== fileId) }));
  };

  /** Sends the draft; it leaves the box only once it is on its way. */
  send = async (): Promise<void> => {
    const draft = this.draft.get();
    if (draft.text.trim() && (await this.ask(draft))) this.draft.set(EMPTY_DRAFT);
  };

  ask = async (question: Draft): Promise<boolean> => {
    const { workflowId, sending, turns } = this.state.get();
    if (sending || this.#runs.isUnfinished(turns.at(-1)?.runId)) return false;
    const frame = frameOf(question, workflowId);
    if (isTooLong(frame)) {
      tell(text("composer.tooLong"), text("composer.tooLongHint", { limit: formatBytes(LONGEST_FRAME_BYTES) }));
      return false;
    }
    this.#change({ sending: true });
    const connected = await this.#hooks.connected();
    this.#change({ sending: false });
    if (this.state.get().workflowId !== workflowId) return false;
    if (!connected || !this.#runs.ask(frame)) {
      tell(text("composer.notSent"), text("composer.notSentHint"));
      return false;
    }
    const turn = { runId: frame.runId, prompt: frame.prompt, fileIds: frame.fileIds, messageId: null, pinned: false };
    this.#change({ turns: [...this.state.get().turns, turn] });
    return true;
  };

  /** Lets later questions always be told of a message, or no longer. */
  pin = async (messageId: string, pinned: boolean): Promise<void> => {
    if (!(await attempt(() => this.#api.pinMemory(messageId, pinned)))) return;
    this.#changeTurns((turn) => (turn.messageId === messageId ? { ...turn, pinned } : turn));
  };

  /** A new conversation has its id as soon as its first run has started. */
  started = (run: RunState): void => {
    const { turns, workflowId } = this.state.get();
    if (!run.workflowId || !turns.some((turn) => turn.runId === run.runId)) return;
    if (run.title) this.#change({ title: run.title });
    const { question } = run;
    this.#changeTurns((turn) => (turn.runId === run.runId && !turn.messageId ? { ...turn, ...question } : turn));
    if (workflowId !== null) return;
    saveDraft(null, EMPTY_DRAFT);
    this.#change({ workflowId: run.workflowId });
    saveDraft(run.workflowId, this.draft.get());
    this.#hooks.onRoute(run.workflowId);
  };

  /** Puts a refused question back into its box. */
  giveBack = (frame: RunFrame): void => {
    const unsent = { text: frame.prompt, fileIds: frame.fileIds };
    const { turns } = this.state.get();
    if (turns.some((turn) => turn.runId === frame.runId)) {
      this.#change({ turns: turns.filter((turn) => turn.runId !== frame.runId) });
      this.draft.update((typed) => mergeDrafts(unsent, typed));
    } else saveDraft(frame.workflowId, mergeDrafts(unsent, loadDraft(frame.workflowId)));
  };

  #show({ workflow, messages, runs }: WorkflowDetail): void {
    const inOrder = runs.toSorted((a, b) => (a.startedAt ?? "").localeCompare(b.startedAt ?? ""));
    const asked = inOrder.map((run) => messages.find((message) => message.role === "user" && message.runId === run.id));
    const stored = asked.filter((message) => message !== undefined).map(turnOf);
    const known = new Set(stored.map((turn) => turn.runId));
    const unanswered = this.state.get().turns.filter((turn) => !known.has(turn.runId));
    this.#change({ title: workflow.title, turns: [...stored, ...unanswered], loading: false });
    const finished = inOrder.filter((run) => isFinished(run) && !this.#runs.has(run.id));
    for (const run of finished) this.#runs.show(runFromMessages(run, messages));
    for (const run of runs) if (!isFinished(run)) this.#runs.follow(run.id);
    void this.#replay(finished);
  }

  /** Brings back steps and figures of finished runs, the newest first; without them the messages still stand. */
  async #replay(finished: readonly RunRow[]): Promise<void> {
    for (const row of finished.toReversed()) {
      const events = await this.#eventsOf(row).catch(() => []);
      this.#runs.replay(row.id, events);
    }
  }

  async #eventsOf(row: RunRow): Promise<unknown[]> {
    const events: unknown[] = [];
    let page: unknown[];
    do {
      page = await this.#api.runEvents(row.id, events.length);
      events.push(...page);
    } while (page.length > 0 && events.length < row.lastSeq);
    return events;
  }

  #changeTurns(change: (turn: Turn) => Turn): void {
    this.#change({ turns: this.state.get().turns.map(change) });
  }

  #change(change: Partial<ChatState>): void {
    this.state.update((state) => ({ ...state, ...change }));
  }
}

function frameOf(question: Draft, workflowId: string | null): RunFrame {
  return {
    action: "run",
    runId: crypto.randomUUID(),
    workflowId,
    prompt: question.text.trim(),
    fileIds: question.fileIds,
    dataSourceIds: [],
    instanceId: null,
    config: configOf(runOptions.get()),
  };
}

function isTooLong(frame: RunFrame): boolean {
  return new TextEncoder().encode(JSON.stringify(frame)).length > LONGEST_FRAME_BYTES;
}

function turnOf({ id, runId, content, fileIds, pinned }: StoredMessage): Turn {
  return { runId, prompt: content, fileIds, messageId: id, pinned };
}

function isFinished(run: RunRow): boolean {
  return Boolean(run.completedAt);
}
