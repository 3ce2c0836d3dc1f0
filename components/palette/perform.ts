/** Performs an act of the palette through the API, with the visitor's session, and says how it went. */
import { createClient } from '#lib/client/client.ts';
import { lengthInWords, sizeInWords } from '../ui/durations.ts';
import type { ToastMessage } from '../ui/toasts.tsx';
import type { SandboxAct } from './acts.ts';

const api = createClient({ url: '', key: null, retries: 0 });

async function copyId(id: string): Promise<string> {
  if (navigator.clipboard === undefined) throw new Error('This page may not write to the clipboard.');
  await navigator.clipboard.writeText(id);
  return 'Its id is copied.';
}

async function carryOut(id: string, act: SandboxAct): Promise<string> {
  switch (act.kind) {
    case 'copy':
      return await copyId(id);
    case 'hold':
      await api.patchInstance(id, { hold_until: Math.floor(Date.now() / 1000) + act.seconds });
      return `It is held for ${lengthInWords(act.seconds)}: no move by itself until then.`;
    case 'release':
      await api.patchInstance(id, { hold_until: null });
      return 'Its clock runs again.';
    case 'keep-hot':
      await api.patchInstance(id, { keep_hot: act.keep });
      return act.keep ? 'It is kept hot.' : 'It is no longer kept hot.';
    case 'snapshot': {
      const { tag, bytes } = await api.takeSnapshot(id, act.tag === '' ? {} : { tag: act.tag });
      return `Its snapshot is taken${tag === null ? '' : ` as “${tag}”`}: ${sizeInWords(bytes)}.`;
    }
  }
}

/** Does it, and returns the message about how it went. */
export async function perform(id: string, name: string | null, act: SandboxAct): Promise<ToastMessage> {
  const key = `sandbox ${id}`;
  const link = act.kind === 'snapshot' ? { label: 'Its snapshots', href: `/sandboxes/${id}?tab=snapshots` } : undefined;
  try {
    return { key, ok: true, says: `${name ?? id}: ${await carryOut(id, act)}`, link };
  } catch (error) {
    const { message, hint } = error as { message: string; hint?: string | null };
    return { key, ok: false, says: `${name ?? id}: ${message}`, hint: hint ?? undefined };
  }
}
