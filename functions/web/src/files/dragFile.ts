import { type DragEvent, useState } from "react";
import { useWorkspace } from "../workspace/workspace";

const FILE_ID = "application/x-werkbank-file";

export function dragFile(event: DragEvent, fileId: string): void {
  event.dataTransfer.setData(FILE_ID, fileId);
  event.dataTransfer.effectAllowed = "move";
}

/** Properties of an element onto which a listed file can be dropped, to move it into `folderId`. */
export function useFolderDrop(folderId: string | null) {
  const { files } = useWorkspace();
  const [over, setOver] = useState(false);
  return {
    "data-over": over || undefined,
    onDragOver: (event: DragEvent) => {
      if (!event.dataTransfer.types.includes(FILE_ID)) return;
      event.preventDefault();
      setOver(true);
    },
    onDragLeave: () => setOver(false),
    onDrop: (event: DragEvent) => {
      setOver(false);
      const fileId = event.dataTransfer.getData(FILE_ID);
      if (fileId) void files.change(fileId, { folderId });
    },
  };
}
