'use client';
/**
 * A form with one file of any size. It is a plain multipart form; with JavaScript it shows progress, can be cancelled,
 * and ends on the same page. The file is the last field, so that the server has the others before it.
 */
import { useRouter } from 'next/navigation';
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { sizeInWords } from '../ui/durations.ts';
import { type ActionOutcome, Outcome } from '../ui/outcome.tsx';

/** The JSON answer of the form's address. */
export interface UploadAnswer {
  /** The address that shows the result. */
  to: string;
}

interface Progress {
  sent: number;
  total: number;
}

const LOST: ActionOutcome = {
  ok: false,
  says: 'The upload did not get through.',
  hint: 'The connection broke, or the file changed while it was read. Nothing of it was kept; try again.',
};

/** Sends the form and reports progress. Rejects when the connection breaks; null when it was cancelled. */
function send(form: HTMLFormElement, stop: AbortSignal, tell: (progress: Progress) => void): Promise<string | null> {
  const request = new XMLHttpRequest();
  return new Promise((resolve, reject) => {
    stop.addEventListener('abort', () => request.abort());
    request.upload.onprogress = ({ loaded, total }) => tell({ sent: loaded, total });
    request.onabort = () => resolve(null);
    request.onerror = () => reject(new Error('the connection broke'));
    request.onload = () => {
      try {
        const { to } = JSON.parse(request.responseText) as Partial<UploadAnswer>;
        if (typeof to === 'string') resolve(to);
        else reject(new Error('there was no answer'));
      } catch (error) {
        reject(error);
      }
    };
    request.open('POST', form.action);
    request.setRequestHeader('accept', 'application/json');
    request.send(new FormData(form));
  });
}

export function UploadForm({
  id,
  action,
  file,
  note,
  button,
  children,
}: {
  id: string;
  /** The address of the form. */
  action: string;
  /** The label of the file field. */
  file: string;
  note: string;
  button: string;
  /** The other fields. */
  children?: ReactNode;
}) {
  const router = useRouter();
  const [progress, setProgress] = useState<Progress | null>(null);
  const [outcome, setOutcome] = useState<ActionOutcome | null>(null);
  const running = useRef<AbortController>(null);
  useEffect(() => () => running.current?.abort(), []);

  const onSubmit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (running.current !== null) return;
    const form = event.currentTarget;
    const stop = new AbortController();
    running.current = stop;
    setOutcome(null);
    setProgress({ sent: 0, total: 0 });
    try {
      const to = await send(form, stop.signal, setProgress);
      if (to === null) setOutcome({ ok: false, says: 'The upload was cancelled. Nothing of it was kept.' });
      else router.push(to);
    } catch {
      setOutcome(LOST);
    } finally {
      running.current = null;
      setProgress(null);
    }
  };

  const whole = progress !== null && progress.total > 0 && progress.sent >= progress.total;
  return (
    <form action={action} method="post" encType="multipart/form-data" onSubmit={onSubmit} className="grid gap-4">
      {children}
      <label className="block min-w-0">
        <span className="field-name">{file}</span>
        <input className="input" type="file" name="file" required aria-describedby={`${id}-note`} />
        <span className="mt-1 block text-small text-ink-3" id={`${id}-note`}>
          {note}
        </span>
      </label>
      {progress === null ? (
        <div>
          <button type="submit" className="button button-ink">
            {button}
          </button>
        </div>
      ) : (
        <div className="grid gap-2" role="status">
          <progress
            className="progress"
            aria-label="Sent so far"
            max={Math.max(1, progress.total)}
            value={progress.sent}
          />
          <div className="flex flex-wrap items-center justify-between gap-3">
            <p className="text-small text-ink-2">
              {whole
                ? 'All of it has arrived; it is being checked.'
                : `${sizeInWords(progress.sent)} of ${sizeInWords(progress.total)}`}
            </p>
            <button type="button" className="button button-quiet" onClick={() => running.current?.abort()}>
              Break off
            </button>
          </div>
        </div>
      )}
      <Outcome outcome={outcome} />
    </form>
  );
}
