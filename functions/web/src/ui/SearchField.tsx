import { Icon } from "./Icon";

interface SearchFieldProps {
  label: string;
  value: string;
  onSearch(text: string): void;
}

export function SearchField({ label, value, onSearch }: SearchFieldProps) {
  return (
    <label className="search">
      <Icon name="search" />
      <input
        type="search"
        value={value}
        placeholder={label}
        aria-label={label}
        onChange={(event) => onSearch(event.target.value)}
      />
    </label>
  );
}
