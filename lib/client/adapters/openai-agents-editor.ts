/** Patches of the OpenAI Agents SDK over the files of a sandbox. Safe for the browser. */
import { ApiError } from '../error.ts';
import { volumePathOf } from '../sandbox/paths.ts';
import type { Sandbox } from '../sandbox.ts';
import { textOrNull } from './file-kinds.ts';
import { followLinks, isRefusal, writeOverLinks } from './links.ts';
import type { AgentsEditor, AgentsPatchResult } from './openai-agents-types.ts';

/** The framework's `applyDiff`. */
export type ApplyDiff = (input: string, diff: string, mode?: 'default' | 'create') => string;

const failed = (output: string): AgentsPatchResult => ({ status: 'failed', output });

/** What goes wrong with a patch is told to the model, which can do better. */
async function telling(path: string, work: () => Promise<AgentsPatchResult | undefined>): Promise<AgentsPatchResult> {
  try {
    return (await work()) ?? { status: 'completed' };
  } catch (error) {
    if (isRefusal(error, 'precondition_failed')) return failed(`${path} was changed meanwhile: read it again.`);
    if (error instanceof Error) return failed(error.message);
    throw error;
  }
}

/** An editor of files by patches. `pathOf`: a path of the framework as the shell has it. */
export function editorOf(box: Sandbox, pathOf: (path: string) => string, applyDiff: ApplyDiff): AgentsEditor {
  return {
    createFile: ({ path, diff }) =>
      telling(path, async () => {
        await writeOverLinks(box, pathOf(path), applyDiff('', diff, 'create'), {});
        return undefined;
      }),
    updateFile: ({ path, diff, moveTo }) =>
      telling(path, async () => {
        const found = await followLinks(box, pathOf(path), {}, async (real) => {
          const place = volumePathOf(real);
          const file = await box.client.getFile(box.id, place.volume, place.path);
          return { real, etag: file.etag ?? undefined, text: textOrNull(await file.bytes()) };
        });
        if (found === null) return failed(`${path} is not there.`);
        if (found.text === null) return failed(`${path} is no text.`);
        const text = applyDiff(found.text, diff);
        if (moveTo === undefined || pathOf(moveTo) === pathOf(path)) {
          // Only over the version that was read: what somebody else wrote meanwhile is not lost.
          await writeOverLinks(box, found.real, text, { ifMatch: found.etag });
          return undefined;
        }
        await box.files.write(pathOf(moveTo), text);
        await box.files.remove(pathOf(path));
        return undefined;
      }),
    deleteFile: ({ path }) =>
      telling(path, async () => {
        const place = volumePathOf(pathOf(path));
        try {
          await box.client.deleteFile(box.id, place.volume, place.path);
        } catch (error) {
          if (error instanceof ApiError && error.code === 'not_found') return failed(`${path} is not there.`);
          throw error;
        }
        return undefined;
      }),
  };
}
