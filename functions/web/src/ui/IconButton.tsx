import type { ComponentProps } from "react";
import { Icon, type IconName } from "./Icon";

interface IconButtonProps extends ComponentProps<"button"> {
  icon: IconName;
  label: string;
}

/** A button that shows an icon and says its label to the pointer and to screen readers. */
export function IconButton({ icon, label, className = "icon-button", ...button }: IconButtonProps) {
  return (
    <button type="button" className={className} aria-label={label} title={label} {...button}>
      <Icon name={icon} />
    </button>
  );
}
