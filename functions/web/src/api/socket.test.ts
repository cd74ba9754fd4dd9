import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { backoffMs } from "./backoff";
import { Socket } from "./socket";

class Line {
  onopen: (() => void) | null = null;
  onmessage: ((message: { data: string }) => void) | null = null;
  onclose: (() => void) | null = null;
  readonly sent: unknown[] = [];
  closed = false;
  send = (text: string) => void this.sent.push(JSON.parse(text));
  close = () => void (this.closed = true);
}

function setUp() {
  const lines: Line[] = [];
  const frames: unknown[] = [];
  const hooks = {
    address: vi.fn(async () => "wss://socket/?ticket=t"),
    open: () => {
      const line = new Line();
      lines.push(line);
      return line as unknown as WebSocket;
    },
    onFrame: (frame: unknown) => void frames.push(frame),
    onOpen: vi.fn(),
    random: () => 0.5,
  };
  const socket = new Socket(hooks);
  const open = async () => {
    await vi.advanceTimersByTimeAsync(0);
    lines.at(-1)?.onopen?.();
  };
  return { socket, hooks, lines, frames, open };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("backoffMs", () => {
  it("doubles up to half a minute, spread by chance", () => {
    expect([0, 1, 2, 3, 10, 1000].map((attempt) => backoffMs(attempt, 1))).toEqual([
      500, 1000, 2000, 4000, 30000, 30000,
    ]);
    expect(backoffMs(3, 0.25)).toBe(1000);
  });
});

describe("Socket", () => {
  it("sends only over an open connection", async () => {
    const { socket, lines, open } = setUp();
    expect(socket.send({ action: "run" })).toBe(false);
    socket.connect();
    await open();
    expect(socket.send({ action: "run" })).toBe(true);
    expect(lines[0]?.sent).toEqual([{ action: "run" }]);
  });

  it("comes back with a fresh ticket after every loss", async () => {
    const { socket, hooks, lines, open } = setUp();
    socket.connect();
    await open();
    lines[0]?.onclose?.();
    expect(socket.state.get()).toBe("waiting");
    await vi.advanceTimersByTimeAsync(500);
    await open();
    expect(hooks.address).toHaveBeenCalledTimes(2);
    expect(hooks.onOpen).toHaveBeenCalledTimes(2);
    expect(socket.state.get()).toBe("open");
  });

  it("keeps trying when no ticket is to be had", async () => {
    const { socket, hooks, open } = setUp();
    hooks.address.mockRejectedValueOnce(new Error("down")).mockRejectedValueOnce(new Error("down"));
    socket.connect();
    await vi.advanceTimersByTimeAsync(2000);
    await open();
    expect(hooks.address).toHaveBeenCalledTimes(3);
    expect(socket.state.get()).toBe("open");
  });

  it("pings before the idle limit and replaces a connection that does not answer", async () => {
    const { socket, lines, open } = setUp();
    socket.connect();
    await open();
    await vi.advanceTimersByTimeAsync(5 * 60_000);
    expect(lines[0]?.sent).toEqual([{ action: "ping" }]);
    lines[0]?.onmessage?.({ data: '{"type":"pong"}' });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(lines).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(5 * 60_000);
    await vi.advanceTimersByTimeAsync(15_000);
    expect(lines[0]?.closed).toBe(true);
    expect(lines).toHaveLength(2);
  });

  it("hears nothing more from a connection that was replaced", async () => {
    const { socket, lines, frames, open } = setUp();
    socket.connect();
    await open();
    socket.reconnect();
    await open();
    lines[0]?.onmessage?.({ data: '{"seq":1}' });
    lines[0]?.onclose?.();
    lines[1]?.onmessage?.({ data: "{broken" });
    expect(frames).toEqual([null]);
    expect(socket.state.get()).toBe("open");
  });

  it("stays closed", async () => {
    const { socket, lines, open } = setUp();
    socket.connect();
    await open();
    socket.close();
    lines[0]?.onclose?.();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(lines).toHaveLength(1);
  });
});
