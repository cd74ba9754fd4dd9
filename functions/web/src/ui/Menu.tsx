import { type KeyboardEvent, useId, useRef, useState } from "react";
import { IconButton } from "./IconButton";

export interface MenuItem {
  label: string;
  danger?: boolean;
  act(): void;
}

/** A "…" button with a menu in the top layer: arrow keys move; Esc and a click outside close, as popovers do. */
export function Menu({ label, items }: { label: string; items: readonly MenuItem[] }) {
  const id = useId();
  const menu = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const place = () => {
    const anchor = button.current?.getBoundingClientRect();
    if (!menu.current || !anchor) return;
    const { offsetHeight, offsetWidth, style } = menu.current;
    style.top = `${Math.max(8, Math.min(anchor.bottom + 4, innerHeight - offsetHeight - 8))}px`;
    style.left = `${Math.max(8, anchor.right - offsetWidth)}px`;
    menu.current.querySelector("button")?.focus();
  };
  const choose = (item: MenuItem) => {
    menu.current?.hidePopover();
    item.act();
  };
  return (
    <>
      <IconButton
        icon="more"
        label={label}
        ref={button}
        className="icon-button more"
        popoverTarget={id}
        aria-haspopup="menu"
      />
      <div
        ref={menu}
        id={id}
        className="menu"
        role="menu"
        popover="auto"
        onKeyDown={moveFocus}
        onBeforeToggle={(event) => setOpen(event.newState === "open")}
        onToggle={(event) => event.newState === "open" && place()}
      >
        {isOpen &&
          items.map((item) => (
            <button
              key={item.label}
              type="button"
              role="menuitem"
              className={item.danger ? "menu-item danger-text" : "menu-item"}
              onClick={() => choose(item)}
            >
              {item.label}
            </button>
          ))}
      </div>
    </>
  );
}

function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const buttons = [...event.currentTarget.querySelectorAll("button")];
  const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
  buttons.at((at + step) % buttons.length)?.focus();
}
