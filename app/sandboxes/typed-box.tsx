'use client';
/**
 * The box in which a filter is typed. The list follows as it is typed; while it is wrong, nothing is listed, for what
 * was listed before is not what the box says. Without JavaScript the form sends it, and the page says what is wrong or
 * shows what it means.
 */
import Form from 'next/form';
import { useRouter } from 'next/navigation';
import { useEffect, useRef, useState, useTransition } from 'react';
import { parseTypedFilter } from '#lib/contract/typed-filter.ts';
import { addressWith } from '../search-params.ts';
import { LIST_PATH, TYPED } from './list-path.ts';

/** Milliseconds without a further key until the list follows. */
const PAUSE_MS = 300;

/**
 * `typed`: the address's filter as text, or what was sent and is wrong. `kept`: parameters that a typed filter leaves
 * as they are.
 */
export function TypedBox({
  typed,
  kept,
  complaints,
}: {
  typed: string;
  kept: Readonly<Record<string, string>>;
  complaints: readonly string[];
}) {
  const router = useRouter();
  const input = useRef<HTMLInputElement>(null);
  const waiting = useRef<ReturnType<typeof setTimeout>>(undefined);
  const [wrong, setWrong] = useState(complaints);
  const [isLoading, startLoading] = useTransition();
  useEffect(() => {
    const { current } = input;
    if (current === null) return;
    // Nobody's typing is overwritten.
    if (current !== document.activeElement) current.value = typed;
    if (current.value.trim() === typed) setWrong(complaints);
  }, [typed, complaints]);
  useEffect(() => () => clearTimeout(waiting.current), []);
  const follow = () => {
    clearTimeout(waiting.current);
    waiting.current = setTimeout(() => {
      const text = input.current?.value ?? '';
      const { parameters, complaints: found } = parseTypedFilter(text);
      setWrong(found);
      const meant = found.length > 0 ? { [TYPED]: text } : parameters;
      startLoading(() => router.replace(addressWith(LIST_PATH, { ...kept, ...meant }), { scroll: false }));
    }, PAUSE_MS);
  };
  const isWrong = wrong.length > 0;
  return (
    <Form
      action={LIST_PATH}
      aria-label="Find"
      className="list-head-find"
      onSubmit={() => clearTimeout(waiting.current)}
    >
      {Object.entries(kept).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <div className="flex items-start gap-3">
        <label className="block min-w-0 flex-1">
          <span className="sr-only">Find, or type a filter</span>
          <input
            ref={input}
            className="input font-mono text-small"
            name={TYPED}
            type="search"
            defaultValue={typed}
            onInput={follow}
            placeholder="part of an id or name, idle:>1h tenant:acme state:frozen label:env=prod"
            autoCapitalize="none"
            autoComplete="off"
            spellCheck={false}
            aria-busy={isLoading}
            aria-invalid={isWrong ? true : undefined}
            aria-describedby={isWrong ? 'typed-complaint' : undefined}
          />
        </label>
        <button type="submit" className="button">
          Find
        </button>
      </div>
      <p className="complaint mt-1 empty:hidden" id="typed-complaint" aria-live="polite">
        {wrong.join(' ')}
      </p>
    </Form>
  );
}
