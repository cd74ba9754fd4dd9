import { type ChangeEvent, createContext, type ReactNode, useContext, useEffect, useRef, useState } from "react";
import { useText } from "../i18n/language";
import { Icon } from "../ui/Icon";
import { attempt } from "../ui/toasts";
import { useWorkspace } from "../workspace/workspace";
import { droppedFiles } from "./droppedFiles";

/** Where uploaded files go: the folder that is open, and for `attach` to the question as well. */
export type UploadPurpose = "store" | "attach";

const UploadContext = createContext<(purpose: UploadPurpose) => void>(() => undefined);

/** Opens the browser's file dialog. */
export function useUploadButton(): (purpose: UploadPurpose) => void {
  return useContext(UploadContext);
}

/** Takes files dropped anywhere on the page, and holds the one file input behind all upload buttons. */
export function UploadArea({ children }: { children: ReactNode }) {
  const t = useText();
  const { files, chat, panels } = useWorkspace();
  const input = useRef<HTMLInputElement>(null);
  const purpose = useRef<UploadPurpose>("store");
  const take = (sources: Iterable<File>, why: UploadPurpose) => {
    const attach = why === "attach" ? (file: { id: string }) => chat.attach(file.id) : undefined;
    files.upload([...sources], panels.folder.get(), attach);
  };
  const dragged = useFileDrop(take);
  const open = (why: UploadPurpose) => {
    purpose.current = why;
    input.current?.click();
  };
  const onChange = (event: ChangeEvent<HTMLInputElement>) => {
    take(event.target.files ?? [], purpose.current);
    purpose.current = "store";
    // The same file chosen again is a change too.
    event.target.value = "";
  };
  return (
    <UploadContext value={open}>
      {children}
      <input ref={input} type="file" multiple hidden data-testid="file-input" onChange={onChange} />
      {dragged && (
        <div className="drop-veil" aria-hidden="true">
          <p>
            <Icon name="upload" />
            {t(dragged === "attach" ? "files.dropAttach" : "files.dropHere")}
          </p>
        </div>
      )}
    </UploadContext>
  );
}

/** Over the chat a drop attaches as well. The answer tells what a drop would do now, null when nothing is dragged. */
function useFileDrop(take: (sources: Iterable<File>, why: UploadPurpose) => void): UploadPurpose | null {
  const [dragged, setDragged] = useState<UploadPurpose | null>(null);
  const latest = useRef(take);
  useEffect(() => {
    latest.current = take;
  });
  useEffect(() => {
    const onOver = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      setDragged(purposeAt(event));
    };
    const onLeave = (event: DragEvent) => event.relatedTarget === null && setDragged(null);
    const onDrop = (event: DragEvent) => {
      setDragged(null);
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      const why = purposeAt(event);
      const dropped = droppedFiles(event.dataTransfer);
      void attempt(async () => latest.current(await dropped, why));
    };
    const listeners = { dragover: onOver, dragleave: onLeave, drop: onDrop };
    for (const [name, listener] of Object.entries(listeners))
      document.addEventListener(name, listener as EventListener);
    return () => {
      for (const [name, listener] of Object.entries(listeners))
        document.removeEventListener(name, listener as EventListener);
    };
  }, []);
  return dragged;
}

function purposeAt(event: DragEvent): UploadPurpose {
  const over = document.elementFromPoint(event.clientX, event.clientY);
  return over?.closest('[data-drop="attach"]') ? "attach" : "store";
}
