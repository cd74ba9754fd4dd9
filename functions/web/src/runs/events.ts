import type { Citation, FileStatus } from "../api/types";

/** What the server sends over the socket, one run's events numbered from 1 without a gap. */
export interface Summary {
  status: string;
  rounds: number;
  toolCalls: number;
  inputTokens: number;
  outputTokens: number;
  costChf: string;
  /** What calls that were still going may cost on top; runs from before it was told have none. */
  reservedChf?: string;
  durationMs: number;
  /** Null when the run ended before any model was asked. */
  model: string | null;
  offline: boolean;
  /** Names of the skills that the model was told; runs from before there were any have none. */
  skills?: readonly string[];
}

/** The session that a question to the user comes from; `trusted` when what started it are the user's own words. */
export interface Origin {
  sessionId: string;
  trusted: boolean;
}

/** A model that answers in place of a broken configuration. */
export interface StandIn {
  model: string;
  label: string;
  /** The model that was to answer; without one it is the secret with the keys that cannot be read. */
  insteadOf?: string;
}

export interface Progress {
  round: number;
  maxRounds: number;
  costChf: string;
  toolCalls: number;
}

interface EventData {
  status: { status: string; workflowId: string; messageId?: string; title?: string; pinned?: boolean } & Partial<StandIn>;
  message: { messageId: string; role: string; content: string; round: number };
  chunk: { round: number; attempt: number; text: string };
  toolCall: { callId: string; round: number; name: string; arguments: string; readOnly: boolean };
  /** `truncated` when the arguments are longer than an event tells; older events do not say, nor where they come from. */
  confirmation: { callId: string; round: number; name: string; arguments: string; truncated?: boolean } & Partial<Origin>;
  toolResult: { callId: string; round: number; name: string; success: boolean; summary: string; durationMs: number };
  agentProgress: Progress;
  citations: { citations: Citation[] };
  agentSummary: Summary;
  fileCreated: { fileId: string; fileName: string };
  /** Belongs to no run's log (seq 0): told while a search takes its time, then forgotten. */
  filler: { text: string; kind: "opening" | "patience" };
  indexProgress: { fileId: string; fileName: string; status: FileStatus; progress: number; reason: string | null };
  complete: { status: string; workflowId?: string; messageId?: string; fileId?: string };
  stopped: { workflowId?: string; messageId?: string };
  error: { title: string; detail: string; status?: number; retryable?: boolean; workflowId?: string; fileId?: string };
  /** Belongs to no run's log (seq 0): what was missed comes in parts, and this was not the last one. */
  more: { afterSeq: number; lastSeq: number };
}

interface Envelope {
  runId: string;
  seq: number;
  at: string;
}

export type RunEvent = { [Type in keyof EventData]: Envelope & { type: Type; data: EventData[Type] } }[keyof EventData];

/** The event of a frame or a stored row, or null for what is none (a pong, a broken frame). */
export function parseEvent(value: unknown): RunEvent | null {
  if (typeof value !== "object" || value === null) return null;
  const { runId, seq, type, data } = value as Record<string, unknown>;
  const isEvent = typeof seq === "number" && typeof type === "string" && typeof data === "object" && data !== null;
  if (!isEvent) return null;
  return { ...value, runId: typeof runId === "string" ? runId : "" } as RunEvent;
}
