import { useState } from "react";
import { useText } from "../i18n/language";
import { IconButton } from "./IconButton";
import { attempt } from "./toasts";

const SHOWN_MS = 1500;

export function CopyButton({ text, label }: { text: string; label?: string }) {
  const t = useText();
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    if (!(await attempt(() => navigator.clipboard.writeText(text)))) return;
    setCopied(true);
    setTimeout(() => setCopied(false), SHOWN_MS);
  };
  const name = copied ? t("common.copied") : (label ?? t("common.copy"));
  return (
    <IconButton
      icon={copied ? "check" : "copy"}
      label={name}
      className="icon-button copy"
      onClick={() => void copy()}
    />
  );
}
