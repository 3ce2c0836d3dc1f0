/** Copies from a terminal to the clipboard. It knows nothing of sandboxes. */
import type { Terminal } from '@xterm/xterm';

/** Copies a text, also where the page may not use the clipboard API. It clears the selection. */
export function copyText(terminal: Terminal, text: string): void {
  if (text === '') return;
  terminal.clearSelection();
  const byHand = () => {
    const { textarea } = terminal;
    if (textarea === undefined) return;
    textarea.value = text;
    textarea.select();
    document.execCommand('copy');
    textarea.value = '';
  };
  if (navigator.clipboard === undefined) byHand();
  else navigator.clipboard.writeText(text).catch(byHand);
}
