import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

const NEAR_PX = 80;

export interface StickToBottom {
  scroller: RefObject<HTMLDivElement | null>;
  content: RefObject<HTMLDivElement | null>;
  atBottom: boolean;
  toBottom(): void;
}

/**
 * Keeps the newest text in sight while it grows, unless the user has scrolled away, or opens something while nothing is
 * being written (`live`). A new turn always scrolls.
 */
export function useStickToBottom(turns: number, live: boolean): StickToBottom {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const sticking = useRef(true);
  const [atBottom, setAtBottom] = useState(true);

  const toBottom = useCallback(() => {
    sticking.current = true;
    setAtBottom(true);
    scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
  }, []);

  useLayoutEffect(toBottom, [turns, toBottom]);

  useEffect(() => {
    const [frame, column] = [scroller.current, content.current];
    if (!frame || !column) return;
    const onScroll = () => {
      sticking.current = frame.scrollHeight - frame.scrollTop - frame.clientHeight < NEAR_PX;
      setAtBottom(sticking.current);
    };
    const onAct = () => {
      if (!live) sticking.current = false;
    };
    const grown = new ResizeObserver(() => sticking.current && toBottom());
    grown.observe(column);
    frame.addEventListener("scroll", onScroll, { passive: true });
    frame.addEventListener("pointerdown", onAct);
    frame.addEventListener("keydown", onAct);
    return () => {
      grown.disconnect();
      frame.removeEventListener("scroll", onScroll);
      frame.removeEventListener("pointerdown", onAct);
      frame.removeEventListener("keydown", onAct);
    };
  }, [toBottom, live]);

  return { scroller, content, atBottom, toBottom };
}
