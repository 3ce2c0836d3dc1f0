'use client';
/** Opens the list of shortcuts without a key. It appears once scripts run: without them there are no shortcuts. */
import { useEffect, useState } from 'react';
import { openShortcutSheet } from './shortcuts.tsx';

export function SheetButton() {
  const [ready, setReady] = useState(false);
  useEffect(() => setReady(true), []);
  return (
    <button type="button" className={`button button-quiet ${ready ? '' : 'invisible'}`} onClick={openShortcutSheet}>
      Shortcuts <kbd className="key">?</kbd>
    </button>
  );
}
