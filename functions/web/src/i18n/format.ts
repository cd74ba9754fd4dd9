import { locale } from "./language";

/** `0.00214` → `CHF 0.0021`: small amounts keep two telling digits. */
export function formatChf(amount: string): string {
  const value = Number(amount);
  const digits = value > 0 && value < 0.1 ? Math.min(6, 1 - Math.floor(Math.log10(value))) : 2;
  return `CHF ${value.toLocaleString(locale(), { minimumFractionDigits: 2, maximumFractionDigits: digits })}`;
}

export function formatBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB"];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${value.toLocaleString(locale(), { maximumFractionDigits: value < 10 && power > 0 ? 1 : 0 })} ${units[power]}`;
}

export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${seconds.toLocaleString(locale(), { maximumFractionDigits: 1 })} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

export function formatCount(count: number): string {
  return count.toLocaleString(locale());
}

/** Time for today, day and month for this year, else the date. */
export function formatWhen(iso: string, now: Date = new Date()): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return "";
  if (date.toDateString() === now.toDateString()) {
    return date.toLocaleTimeString(locale(), { hour: "2-digit", minute: "2-digit" });
  }
  const year = date.getFullYear() === now.getFullYear() ? undefined : ("numeric" as const);
  return date.toLocaleDateString(locale(), { day: "numeric", month: "short", year });
}
