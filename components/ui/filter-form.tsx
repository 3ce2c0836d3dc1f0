'use client';
/**
 * The form of a list's filters: a GET form whose empty fields do not land in the address. Without JavaScript they do,
 * and the page redirects to the address without them.
 */
import Form from 'next/form';
import { useRouter } from 'next/navigation';
import { type ReactNode, useEffect, useRef } from 'react';

/** Milliseconds without a further change until the list follows. */
const PAUSE_MS = 350;

export function FilterForm({
  action,
  className,
  label,
  live,
  children,
}: {
  action: string;
  className?: string;
  /** Its name, where a page has several. */
  label?: string;
  /** The values of the address: the list follows each change of a field, and fields follow the address. */
  live?: Readonly<Record<string, string>>;
  children: ReactNode;
}) {
  const form = useRef<HTMLFormElement>(null);
  const router = useRouter();
  const isLive = live !== undefined;
  useEffect(() => {
    const { current } = form;
    if (current === null) return;
    const ended = new AbortController();
    const { signal } = ended;
    const dropEmpty = ({ formData }: FormDataEvent) => {
      for (const [name, value] of [...formData]) if (value === '') formData.delete(name);
    };
    let waiting: ReturnType<typeof setTimeout> | undefined;
    const follow = () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => {
        const search = new URLSearchParams([...new FormData(current)].map(([name, value]) => [name, String(value)]));
        router.replace(search.size === 0 ? action : `${action}?${search}`, { scroll: false });
      }, PAUSE_MS);
    };
    current.addEventListener('formdata', dropEmpty, { signal });
    if (isLive) {
      current.addEventListener('input', follow, { signal });
      current.addEventListener('submit', () => clearTimeout(waiting), { signal });
    }
    return () => {
      clearTimeout(waiting);
      ended.abort();
    };
  }, [action, isLive, router]);
  useEffect(() => {
    if (live === undefined) return;
    for (const field of form.current?.elements ?? []) {
      if (!(field instanceof HTMLInputElement || field instanceof HTMLSelectElement)) continue;
      if (field.type === 'hidden' || field.name === '' || field === document.activeElement) continue;
      field.value = live[field.name] ?? '';
    }
  }, [live]);
  return (
    <Form ref={form} action={action} className={className} aria-label={label}>
      {children}
    </Form>
  );
}
