'use client';
/** The list of all shortcuts, generated from their table, and the switch that turns single-letter shortcuts off. */
import { useEffect, useRef, useState } from 'react';
import { keyInWords, SHORTCUTS } from './shortcut-table.ts';
import { letterShortcutsOn, setLetterShortcuts } from './shortcuts.tsx';

export function HelpSheet({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [on, setOn] = useState(letterShortcutsOn);
  const mac = /Mac|iPhone|iPad/.test(navigator.platform);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} className="sheet" aria-labelledby="sheet-name" onClose={onClose}>
      <div className="flex items-baseline justify-between gap-4">
        <h2 id="sheet-name" className="text-[1.25rem] font-[580] tracking-[-0.02em]">
          Shortcuts
        </h2>
        <button type="button" className="button button-quiet" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      <div className="mt-5 grid gap-x-12 gap-y-6 sm:grid-cols-2">
        {SHORTCUTS.map(({ name, shortcuts }) => (
          <section
            key={name}
            aria-label={name}
            className={name === 'Places' ? 'sm:col-start-2 sm:row-span-2 sm:row-start-1' : undefined}
          >
            <h3 className="part-name border-b border-ink pb-1.5">{name}</h3>
            <dl>
              {shortcuts.map(({ keys, says }) => (
                <div
                  key={keys.join(' ')}
                  className="flex items-baseline justify-between gap-4 border-b border-rule py-1.5"
                >
                  <dt>{says}</dt>
                  <dd className="flex flex-none items-center gap-1">
                    {keys.map((key) => (
                      <kbd key={key} className="key">
                        {keyInWords(key, mac)}
                      </kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <label className="mt-6 flex items-baseline gap-2.5">
        <input
          type="checkbox"
          className="size-4 flex-none accent-ink translate-y-0.5"
          checked={on}
          onChange={({ target }) => {
            setLetterShortcuts(target.checked);
            setOn(letterShortcutsOn());
          }}
        />
        <span>
          Shortcuts of single keys{' '}
          <span className="text-small text-ink-3">
            This browser remembers it. {keyInWords('mod', mac)} K works either way, and so does the palette’s own list.
          </span>
        </span>
      </label>
    </dialog>
  );
}
