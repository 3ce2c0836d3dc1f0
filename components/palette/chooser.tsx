'use client';
/**
 * The palette's field and list: typing filters, the arrow keys move, Enter chooses. It knows nothing of the items'
 * meaning.
 */
import { CommandGroup, CommandInput, CommandItem, CommandList, CommandRoot } from 'cmdk';
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { StateMark } from '../sandbox/state-mark.tsx';
import { headlineWord } from '../sandbox/state-words.ts';
import type { PaletteAction, PaletteGroup, PaletteItem } from './items.ts';

function Row({ item, onSelect }: { item: PaletteItem; onSelect: () => void }) {
  const { value, name, detail, sandbox, action } = item;
  return (
    <CommandItem value={value} disabled={action === null} onSelect={onSelect} className="palette-item">
      {sandbox !== undefined && (
        <StateMark state={sandbox.state} fault={sandbox.fault} size={15} className="flex-none self-center" />
      )}
      {sandbox === undefined && action?.kind === 'choose' && <span className="w-[15px] flex-none" />}
      <span className="min-w-0 truncate">{name}</span>
      {sandbox !== undefined && <span className="flex-none text-small text-ink-2">{headlineWord(sandbox)}</span>}
      {detail !== undefined && <span className="palette-detail">{detail}</span>}
    </CommandItem>
  );
}

/**
 * `fresh`: the list is the result for the current text. Enter waits for that, so that nobody chooses an item unseen.
 * `directly`: Enter was pressed with Ctrl or ⌘.
 */
export function Chooser({
  typed,
  onType,
  placeholder,
  groups,
  fresh,
  entered = false,
  onChoose,
  onBack,
  children,
}: {
  typed: string;
  onType: (typed: string) => void;
  placeholder: string;
  groups: readonly PaletteGroup[];
  fresh: boolean;
  /** Enter was pressed while the palette was loading. */
  entered?: boolean;
  onChoose: (action: PaletteAction, directly: boolean) => void;
  onBack?: () => void;
  children?: ReactNode;
}) {
  const items = groups.flatMap((group) => group.items).filter(({ action }) => action !== null);
  const first = items[0]?.value ?? '';
  const [picked, setPicked] = useState<string | null>(null);
  const [impatient, setImpatient] = useState<'choose' | 'directly' | null>(entered ? 'choose' : null);
  const value = picked !== null && items.some((item) => item.value === picked) ? picked : first;
  const chosen = items.find((item) => item.value === value);
  const choose = (directly: boolean) => {
    if (chosen?.action != null) onChoose(chosen.action, directly);
  };
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // Typing continues at the end of what was typed before.
    field.current?.focus();
    field.current?.setSelectionRange(field.current.value.length, field.current.value.length);
  }, []);
  const chooseNow = useRef(choose);
  chooseNow.current = choose;
  useEffect(() => {
    if (!fresh || impatient === null) return;
    setImpatient(null);
    chooseNow.current(impatient === 'directly');
  }, [fresh, impatient]);

  const press = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Backspace' && typed === '' && onBack !== undefined) {
      event.preventDefault();
      onBack();
    }
    if (event.key !== 'Enter') return;
    const directly = event.ctrlKey || event.metaKey;
    if (!fresh) setImpatient(directly ? 'directly' : 'choose');
    else if (directly) choose(true);
    else return;
    event.preventDefault();
  };

  return (
    <CommandRoot
      label={placeholder}
      shouldFilter={false}
      loop
      vimBindings={false}
      value={value}
      onValueChange={setPicked}
      onKeyDown={press}
      className="palette-body"
    >
      <CommandInput
        ref={field}
        className="palette-field"
        placeholder={placeholder}
        value={typed}
        onValueChange={(next) => {
          setPicked(null);
          setImpatient(null);
          onType(next);
        }}
      />
      <CommandList className="palette-list" label="What there is">
        {groups.map(({ name, items: own }) => (
          <CommandGroup key={name} heading={name} className="palette-group">
            {own.map((item) => (
              <Row
                key={item.value}
                item={item}
                onSelect={() => {
                  if (item.action !== null) onChoose(item.action, false);
                }}
              />
            ))}
          </CommandGroup>
        ))}
      </CommandList>
      {children}
    </CommandRoot>
  );
}

/** Hints: what the keys do here. */
export function KeyHints({ children }: { children: ReactNode }) {
  return <p className="palette-keys">{children}</p>;
}
