import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { RunEvent } from "./events";
import { type EventOf, newRun } from "./runState";
import { type RunFrame, RunStore } from "./runStore";

const frame: RunFrame = {
  action: "run",
  runId: "r1",
  workflowId: null,
  prompt: "Why?",
  fileIds: [],
  dataSourceIds: [],
  instanceId: null,
  config: {},
};
const started = event(1, "status", { status: "started", workflowId: "w1" });
const done = event(4, "complete", { status: "completed", workflowId: "w1" });

function event(seq: number, type: string, data: object): RunEvent {
  return { runId: "r1", seq, type, at: "", data } as RunEvent;
}

function chunk(seq: number, text: string): RunEvent {
  return event(seq, "chunk", { round: 1, attempt: 1, text });
}

function setUp(connected = true) {
  const sent: object[] = [];
  const line = { connected };
  const send = (out: object) => line.connected && sent.push(out) > 0;
  const hooks = { send, onStarted: vi.fn(), onEnded: vi.fn() };
  const store = new RunStore(hooks);
  store.start();
  return { store, hooks, sent, line };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("RunStore", () => {
  it("refuses a question without a connection and keeps nothing", () => {
    const { store } = setUp(false);
    expect(store.ask(frame)).toBe(false);
    expect(store.has("r1")).toBe(false);
  });

  it("sends an unanswered question again on a new connection, an answered one it resumes", () => {
    const { store, sent } = setUp();
    store.ask(frame);
    store.resumeAll();
    expect(sent).toEqual([frame, frame]);
    store.receive(started);
    store.receive(chunk(2, "Be"));
    store.resumeAll();
    expect(sent.at(-1)).toEqual({ action: "resume", runId: "r1", afterSeq: 2 });
  });

  it("asks for the rest of what it has missed until there is no more", () => {
    // EV-02
    const { store, sent } = setUp();
    store.follow("r1");
    for (const next of [started, chunk(2, "a")]) store.receive(next);
    store.goOn("r1");
    expect(sent.at(-1)).toEqual({ action: "resume", runId: "r1", afterSeq: 2 });
    for (const next of [chunk(3, "b"), done]) store.receive(next);
    store.goOn("r1");
    expect(sent).toHaveLength(2);
  });

  it("asks for the missing events when a gap stays", async () => {
    const { store, sent } = setUp();
    store.ask(frame);
    store.receive(started);
    store.receive(chunk(3, "cause"));
    await vi.advanceTimersByTimeAsync(1000);
    expect(sent.filter((out) => "afterSeq" in out)).toEqual([{ action: "resume", runId: "r1", afterSeq: 1 }]);
  });

  it("does not ask when the missing event comes in time", async () => {
    const { store, sent } = setUp();
    store.ask(frame);
    store.receive(chunk(2, "x"));
    store.receive(started);
    await vi.advanceTimersByTimeAsync(1000);
    expect(sent).toEqual([frame]);
  });

  it("asks again after a silence, never once the run has ended", async () => {
    const { store, hooks, sent } = setUp();
    store.follow("r1");
    store.receive(started);
    await vi.advanceTimersByTimeAsync(13_000);
    expect(sent).toHaveLength(2);
    for (const next of [chunk(2, "a"), chunk(3, "b"), done, done]) store.receive(next);
    await vi.advanceTimersByTimeAsync(60_000);
    store.resumeAll();
    expect(sent).toHaveLength(2);
    expect(hooks.onStarted).toHaveBeenCalledTimes(1);
    expect(hooks.onEnded).toHaveBeenCalledTimes(1);
  });

  it("tells a filler of a run it has, and shows it no more after a replay", async () => {
    // WS-05
    const { store } = setUp();
    const filler = { ...event(0, "filler", { text: "One moment.", kind: "opening" }), at: "2026-03-01T08:00:00Z" };
    store.tell(filler as EventOf<"filler">);
    expect(store.has("r1")).toBe(false);
    store.ask(frame);
    store.receive(started);
    store.tell(filler as EventOf<"filler">);
    await vi.advanceTimersByTimeAsync(100);
    expect(store.runs.get().get("r1")?.filler?.text).toBe("One moment.");
    store.replay("r1", [started, chunk(2, "a"), chunk(3, "b"), done]);
    await vi.advanceTimersByTimeAsync(100);
    expect(store.runs.get().get("r1")?.filler).toBeNull();
  });

  it("gives back a question that was refused", async () => {
    const { store } = setUp();
    store.ask(frame);
    expect(store.onlyUnanswered()).toBe("r1");
    expect(store.withdraw("r1")).toEqual(frame);
    expect(store.has("r1")).toBe(false);
  });

  it("tells a finished run by its events, and by its messages when they are incomplete", async () => {
    const { store } = setUp();
    const fallback = { ...newRun("r1"), end: { kind: "stopped" } as const };
    store.show(fallback);
    store.replay("r1", [started, chunk(2, "a")]);
    await vi.advanceTimersByTimeAsync(100);
    expect(store.runs.get().get("r1")).toEqual(fallback);
    store.replay("r1", [started, chunk(2, "a"), chunk(3, "b"), done]);
    await vi.advanceTimersByTimeAsync(100);
    expect(store.runs.get().get("r1")?.lastSeq).toBe(4);
  });
});
