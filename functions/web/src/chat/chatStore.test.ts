import { beforeEach, describe, expect, it, vi } from "vitest";
import type { ApiClient } from "../api/client";
import type { WorkflowDetail } from "../api/types";
import { newRun } from "../runs/runState";
import { type RunFrame, RunStore } from "../runs/runStore";
import { toasts } from "../ui/toasts";
import { ChatStore } from "./chatStore";

class MemoryStorage {
  readonly #items = new Map<string, string>();
  getItem = (key: string) => this.#items.get(key) ?? null;
  setItem = (key: string, value: string) => void this.#items.set(key, value);
  removeItem = (key: string) => void this.#items.delete(key);
}

function setUp({ connected = true, detail = null as WorkflowDetail | null } = {}) {
  const sent: object[] = [];
  const pinned: [string, boolean][] = [];
  const pinMemory = async (...call: [string, boolean]) => void pinned.push(call);
  const api = { workflow: async () => detail, runEvents: async () => [], pinMemory } as unknown as ApiClient;
  const runs = new RunStore({ send: (frame) => sent.push(frame) > 0, onStarted: vi.fn(), onEnded: vi.fn() });
  const onRoute = vi.fn();
  const chat = new ChatStore(api, runs, { connected: async () => connected, onRoute });
  const type = (text: string) => chat.draft.set({ text, fileIds: ["f1"] });
  return { chat, runs, sent, pinned, onRoute, type };
}

beforeEach(() => {
  vi.stubGlobal("sessionStorage", new MemoryStorage());
  toasts.set([]);
});

describe("ChatStore", () => {
  it("sends the draft with its files and empties the box", async () => {
    const { chat, sent, type } = setUp();
    type(" Why? ");
    await chat.send();
    expect(sent).toMatchObject([{ action: "run", workflowId: null, prompt: "Why?", fileIds: ["f1"] }]);
    expect(chat.draft.get()).toEqual({ text: "", fileIds: [] });
    expect(chat.state.get().turns).toMatchObject([{ prompt: "Why?" }]);
  });

  it("keeps the draft and says so when there is no connection", async () => {
    const { chat, sent, type } = setUp({ connected: false });
    type("Why?");
    await chat.send();
    expect(sent).toEqual([]);
    expect(chat.draft.get().text).toBe("Why?");
    expect(toasts.get()).toHaveLength(1);
  });

  it("keeps a question that the gateway would not take", async () => {
    const { chat, sent, type } = setUp();
    type("ä".repeat(20_000));
    await chat.send();
    expect(sent).toEqual([]);
    expect(chat.draft.get().text).toHaveLength(20_000);
  });

  it("asks nothing while an answer is being written", async () => {
    const { chat, sent, type } = setUp();
    type("First");
    await chat.send();
    type("Second");
    await chat.send();
    expect(sent).toHaveLength(1);
    expect(chat.draft.get().text).toBe("Second");
  });

  it("puts a refused question back before what was typed meanwhile", async () => {
    const { chat, runs, sent, type } = setUp();
    type("First");
    await chat.send();
    type("Second");
    const frame = runs.withdraw((sent[0] as RunFrame).runId);
    if (frame) chat.giveBack(frame);
    expect(chat.draft.get().text).toBe("First\n\nSecond");
    expect(chat.state.get().turns).toEqual([]);
  });

  it("gives a refused question back to its conversation when another is open", async () => {
    const { chat, runs, sent, type } = setUp();
    type("First");
    await chat.send();
    await chat.open("other");
    const frame = runs.withdraw((sent[0] as RunFrame).runId);
    if (frame) chat.giveBack(frame);
    expect(chat.draft.get().text).toBe("");
    await chat.open(null);
    expect(chat.draft.get().text).toBe("First");
  });

  it("puts a new conversation into the address once it has started", async () => {
    const { chat, sent, onRoute, type } = setUp();
    type("Why?");
    await chat.send();
    chat.started({ ...newRun((sent[0] as RunFrame).runId), workflowId: "w1", title: "Why?" });
    expect(onRoute).toHaveBeenCalledExactlyOnceWith("w1");
    expect(chat.state.get()).toMatchObject({ workflowId: "w1", title: "Why?" });
  });

  it("pins a message once it is stored, and a later start does not undo it", async () => {
    const { chat, sent, pinned, type } = setUp();
    type("Why?");
    await chat.send();
    const question = { messageId: "m1", pinned: false };
    const run = { ...newRun((sent[0] as RunFrame).runId), workflowId: "w1", question };
    chat.started(run);
    expect(chat.state.get().turns).toMatchObject([question]);
    await chat.pin("m1", true);
    chat.started(run);
    expect(pinned).toEqual([["m1", true]]);
    expect(chat.state.get().turns).toMatchObject([{ messageId: "m1", pinned: true }]);
  });

  it("takes up an unfinished run from its first event after a reload", async () => {
    const run = { id: "r1", status: "running", lastSeq: 7, costChf: "0", startedAt: "2026-01-01", completedAt: null };
    const asked = { id: "m", runId: "r1", round: 0, role: "user" as const, content: "Why?", createdAt: "" };
    const workflow = { id: "w1", title: "Why?", createdAt: "", updatedAt: "" };
    const messages = [{ ...asked, toolCalls: [], citations: [], fileIds: [], pinned: true }];
    const { chat, sent } = setUp({ detail: { workflow, messages, runs: [run] } });
    await chat.open("w1");
    expect(chat.state.get().turns).toEqual([
      { runId: "r1", prompt: "Why?", fileIds: [], messageId: "m", pinned: true },
    ]);
    expect(sent).toEqual([{ action: "resume", runId: "r1", afterSeq: 0 }]);
  });
});
