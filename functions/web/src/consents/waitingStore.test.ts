import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ApiClient } from "../api/client";
import type { WaitingCall } from "../api/types";
import type { RunEvent } from "../runs/events";
import { findCall, WaitingStore } from "./waitingStore";

const call: WaitingCall = {
  runId: "r1",
  round: 1,
  callId: "c1",
  workflowId: "w1",
  title: "Letters",
  sessionId: "workspace",
  trusted: true,
  name: "sendMail",
  arguments: "{}",
  askedAt: "2026-03-01T08:00:00Z",
};

function setUp(...waiting: WaitingCall[]) {
  const confirmations = vi.fn(async () => waiting);
  const decide = vi.fn(async () => undefined);
  return { store: new WaitingStore({ confirmations, decide } as unknown as ApiClient), confirmations, decide };
}

const event = (runId: string, type: string) => ({ runId, seq: 1, type, at: "", data: {} }) as unknown as RunEvent;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("WaitingStore (AG-24)", () => {
  it("lists what waits without any event, as after a reload", async () => {
    const { store } = setUp(call);
    await store.refresh();
    expect(store.state.get()).toEqual([call]);
    expect(findCall(store.state.get(), "r1", 1, "c1")).toBe(call);
    expect(findCall(store.state.get(), "r1", 2, "c1")).toBeUndefined();
  });

  it("looks again when any run asks, and when one that asked goes on", async () => {
    const { store, confirmations } = setUp(call);
    store.receive(event("r9", "chunk"));
    await vi.advanceTimersByTimeAsync(1000);
    expect(confirmations).not.toHaveBeenCalled();
    store.receive(event("r1", "confirmation"));
    await vi.advanceTimersByTimeAsync(1000);
    store.receive(event("r1", "toolCall"));
    store.receive(event("r1", "toolResult"));
    await vi.advanceTimersByTimeAsync(1000);
    expect(confirmations).toHaveBeenCalledTimes(2);
  });

  it("hands on the user's word and looks what is left", async () => {
    const { store, confirmations, decide } = setUp();
    expect(await store.decide("r1", 1, "c1", true)).toBe(true);
    expect(decide).toHaveBeenCalledExactlyOnceWith("r1", 1, "c1", true);
    await vi.advanceTimersByTimeAsync(1000);
    expect(confirmations).toHaveBeenCalledTimes(1);
  });
});
