import type { Citation } from "../api/types";
import type { Origin, Progress, RunEvent, StandIn, Summary } from "./events";

export interface TextBlock {
  kind: "text";
  key: string;
  round: number;
  attempt: number;
  text: string;
  /** The server has stored this text: nothing more is added to it. */
  stored: boolean;
}

export interface ToolBlock {
  kind: "tool";
  key: string;
  round: number;
  name: string;
  arguments: string;
  /** The arguments are longer than an event tells. */
  truncated: boolean;
  readOnly: boolean;
  /** The call waits for the user's consent. */
  awaiting: boolean;
  /** Where a call that needs consent comes from, as far as known. */
  origin: Origin | null;
  outcome: { success: boolean; summary: string; durationMs: number | null } | null;
}

export type Block = TextBlock | ToolBlock;

export type RunEnd =
  | { kind: "complete"; status: string }
  | { kind: "stopped" }
  | { kind: "error"; title: string; detail: string; retryable: boolean };

/** Everything the page shows of one run: a pure function of its events 1…lastSeq, and what it is told meanwhile. */
export interface RunState {
  runId: string;
  lastSeq: number;
  /** Events that came before their predecessors, by seq. */
  early: Readonly<Record<number, RunEvent>>;
  workflowId: string | null;
  title: string | null;
  /** The stored question, once the run has started. */
  question: { messageId: string; pinned: boolean } | null;
  blocks: readonly Block[];
  citations: readonly Citation[];
  progress: Progress | null;
  summary: Summary | null;
  /** Which models stood in for a broken configuration. */
  standIns: readonly StandIn[];
  end: RunEnd | null;
  /** What is told while a search takes its time; gone with the next event. */
  filler: Filler | null;
}

interface Filler {
  text: string;
  at: string;
}

/** A call that is made again tells its fillers again: one that comes sooner than a single search would is left out. */
const FILLERS_APART_MS = 9_000;

export function newRun(runId: string): RunState {
  return {
    runId,
    lastSeq: 0,
    early: {},
    workflowId: null,
    title: null,
    question: null,
    blocks: [],
    citations: [],
    progress: null,
    summary: null,
    standIns: [],
    end: null,
    filler: null,
  };
}

/** True when events are missing between the last applied one and those at hand. */
export function hasGap(run: RunState): boolean {
  return Object.keys(run.early).length > 0;
}

/** Shows a filler, unless the answer has begun: they are pushed beside the log, so one may come late. */
export function tellFiller(run: RunState, event: EventOf<"filler">): RunState {
  const { at, data } = event;
  const isAnswering = run.end !== null || run.blocks.at(-1)?.kind === "text";
  const isTooSoon = run.filler !== null && Date.parse(at) - Date.parse(run.filler.at) < FILLERS_APART_MS;
  return isAnswering || isTooSoon ? run : { ...run, filler: { text: data.text, at } };
}

/** Applies an event in its turn: one seen before changes nothing, one too early waits for its predecessors. */
export function applyEvent(run: RunState, event: RunEvent): RunState {
  if (event.runId !== run.runId || event.seq <= run.lastSeq) return run;
  if (event.seq > run.lastSeq + 1) return { ...run, early: { ...run.early, [event.seq]: event } };
  let next = advance(run, event);
  for (let due = next.early[next.lastSeq + 1]; due; due = next.early[next.lastSeq + 1]) next = advance(next, due);
  return next;
}

function advance(run: RunState, event: RunEvent): RunState {
  const early = { ...run.early };
  delete early[event.seq];
  return { ...show(run, event), lastSeq: event.seq, early, filler: null };
}

function show(run: RunState, event: RunEvent): RunState {
  switch (event.type) {
    case "status":
      return showStatus(run, event.data);
    case "chunk":
      return { ...run, blocks: addChunk(run.blocks, event) };
    case "message":
      return event.data.role === "assistant" ? { ...run, blocks: storeText(run.blocks, event) } : run;
    case "toolCall":
      return { ...run, blocks: addToolCall(run.blocks, event) };
    case "confirmation":
      return { ...run, blocks: addConfirmation(run.blocks, event) };
    case "toolResult":
      return { ...run, blocks: addToolResult(run.blocks, event) };
    case "agentProgress":
      return { ...run, progress: event.data };
    case "citations":
      return { ...run, citations: event.data.citations };
    case "agentSummary":
      return { ...run, summary: event.data };
    case "complete":
      return { ...run, end: { kind: "complete", status: event.data.status } };
    case "stopped":
      return { ...run, end: { kind: "stopped" } };
    case "error":
      return { ...run, end: { kind: "error", ...errorOf(event.data) } };
    default:
      return run;
  }
}

function showStatus(run: RunState, data: EventOf<"status">["data"]): RunState {
  const { workflowId, title, messageId, pinned, model, label, insteadOf } = data;
  const question = messageId ? { messageId, pinned: pinned ?? false } : run.question;
  const standIns = model && label ? [...run.standIns, { model, label, insteadOf }] : run.standIns;
  return { ...run, workflowId, title: title ?? run.title, question, standIns };
}

export type EventOf<Type extends RunEvent["type"]> = Extract<RunEvent, { type: Type }>;

function errorOf(data: EventOf<"error">["data"]): { title: string; detail: string; retryable: boolean } {
  return { title: data.title, detail: data.detail, retryable: data.retryable ?? false };
}

/** A higher attempt means that the round began again: its text so far is void. */
function addChunk(blocks: readonly Block[], event: EventOf<"chunk">): readonly Block[] {
  const { round, attempt, text } = event.data;
  const at = lastTextOf(blocks, round);
  const block = blocks[at];
  if (block?.kind === "text" && !block.stored) {
    if (attempt < block.attempt) return blocks;
    if (attempt > block.attempt) return blocks.with(at, { ...block, attempt, text });
    if (at === blocks.length - 1) return blocks.with(at, { ...block, text: block.text + text });
  }
  return [...blocks, { kind: "text", key: `text-${event.seq}`, round, attempt, text, stored: false }];
}

/** The stored message is the truth about the text that was streamed before it. */
function storeText(blocks: readonly Block[], event: EventOf<"message">): readonly Block[] {
  const { round, content } = event.data;
  const at = lastTextOf(blocks, round);
  const block = blocks[at];
  if (block?.kind === "text" && !block.stored) return blocks.with(at, { ...block, text: content, stored: true });
  if (content === "" || (block?.kind === "text" && block.text === content)) return blocks;
  return [...blocks, { kind: "text", key: `text-${event.seq}`, round, attempt: 0, text: content, stored: true }];
}

function lastTextOf(blocks: readonly Block[], round: number): number {
  return blocks.findLastIndex((block) => block.kind === "text" && block.round === round);
}

function addToolCall(blocks: readonly Block[], event: EventOf<"toolCall">): readonly Block[] {
  const { callId, round, name, arguments: args, readOnly } = event.data;
  const at = blocks.findIndex((block) => block.key === callId);
  const block = blocks[at];
  if (block?.kind === "tool") return blocks.with(at, { ...block, readOnly, awaiting: false });
  const call = { kind: "tool", key: callId, round, name, arguments: args, truncated: false, readOnly } as const;
  return [...blocks, { ...call, awaiting: false, origin: null, outcome: null }];
}

function addConfirmation(blocks: readonly Block[], event: EventOf<"confirmation">): readonly Block[] {
  const { callId, round, name, arguments: args, truncated = false, sessionId, trusted = false } = event.data;
  const call = { kind: "tool", key: callId, round, name, arguments: args, truncated, readOnly: false } as const;
  const origin = sessionId === undefined ? null : { sessionId, trusted };
  return [...blocks, { ...call, awaiting: true, origin, outcome: null }];
}

function addToolResult(blocks: readonly Block[], event: EventOf<"toolResult">): readonly Block[] {
  const { callId, success, summary, durationMs } = event.data;
  return blocks.map((block) =>
    block.kind === "tool" && block.key === callId ? { ...block, outcome: { success, summary, durationMs } } : block,
  );
}
