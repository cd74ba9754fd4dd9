import { type ComponentProps, memo } from "react";
import ReactMarkdown, { type Components, type ExtraProps } from "react-markdown";
import rehypeSanitize from "rehype-sanitize";
import remarkGfm from "remark-gfm";
import { CopyButton } from "./CopyButton";

type PluggableList = NonNullable<ComponentProps<typeof ReactMarkdown>["rehypePlugins"]>;

interface MarkdownProps {
  text: string;
  /** Applied to the sanitized tree. */
  plugins?: PluggableList;
  components?: Components;
}

const NO_PLUGINS: PluggableList = [];
const REMARK = [remarkGfm];

/** Markdown from a model or a file, hostile until sanitized: it loads no picture, and its links open a new tab. */
export const Markdown = memo(function Markdown({ text, plugins = NO_PLUGINS, components }: MarkdownProps) {
  return (
    <ReactMarkdown
      remarkPlugins={REMARK}
      rehypePlugins={[rehypeSanitize, ...plugins]}
      components={{ ...SAFE, ...components }}
    >
      {text}
    </ReactMarkdown>
  );
});

const SAFE: Components = {
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  ),
  // A picture's address could carry what was read to a stranger's server, without a click.
  img: ({ alt, src }) => <span className="no-image">{alt || String(src ?? "")}</span>,
  table: ({ children }) => (
    <div className="table-scroll" tabIndex={0} role="group">
      <table>{children}</table>
    </div>
  ),
  pre: CodeBlock,
};

function CodeBlock({ node, children }: ComponentProps<"pre"> & ExtraProps) {
  return (
    <div className="code-block">
      <pre tabIndex={0}>{children}</pre>
      <CopyButton text={textOf(node)} />
    </div>
  );
}

function textOf(node: ExtraProps["node"]): string {
  const parts = node?.children.map((child) =>
    child.type === "text" ? child.value : child.type === "element" ? textOf(child) : "",
  );
  return parts?.join("") ?? "";
}
