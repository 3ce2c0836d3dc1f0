'use client';
/** One call to fill in, run, copy and keep. It calls with the visitor's session. */
import { useId, useRef, useState } from 'react';
import { CallTexts } from '#components/calls/call-texts.tsx';
import { AnswerView } from './call-answer.tsx';
import { CallContract } from './call-facts.tsx';
import { type CallValues, parseBody, sampleOf } from './call-values.ts';
import type { CallParameter, ListedOperation } from './document.ts';
import { type CallAnswer, sendCall } from './send-call.ts';

function ParameterField({
  parameter,
  value,
  onChange,
}: {
  parameter: CallParameter;
  value: string;
  onChange: (value: string) => void;
}) {
  const { name, place, required, choices, says } = parameter;
  const id = useId();
  const common = { id, className: 'input', value, 'aria-describedby': says === null ? undefined : `${id}-says` };
  return (
    <div className="block min-w-0">
      <label className="field-name" htmlFor={id}>
        <code>{name}</code> in the {place}
        {required ? '' : ', optional'}
      </label>
      {choices.length > 0 ? (
        <select {...common} onChange={({ target }) => onChange(target.value)}>
          {!required && <option value="">—</option>}
          {choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      ) : (
        <input {...common} autoComplete="off" spellCheck={false} onChange={({ target }) => onChange(target.value)} />
      )}
      {says !== null && (
        <p id={`${id}-says`} className="mt-1 text-small text-ink-3">
          {says.replaceAll('`', '')}
        </p>
      )}
    </div>
  );
}

export function CallForm({
  operation,
  values,
  origin,
  onValues,
  onKeep,
}: {
  operation: ListedOperation;
  values: CallValues;
  /** The server's address, as others reach it. */
  origin: string;
  onValues: (values: CallValues) => void;
  /** Without it the call cannot be kept. */
  onKeep?: () => void;
}) {
  const { parameters, body, method } = operation;
  const [answer, setAnswer] = useState<CallAnswer | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [running, setRunning] = useState(false);
  const latest = useRef(0);
  const bodyId = useId();
  const parsed = body?.json === true ? parseBody(values.body) : null;
  const bodyError = parsed !== null && 'error' in parsed ? parsed.error : null;

  const run = async () => {
    if (bodyError !== null) return;
    latest.current += 1;
    const mine = latest.current;
    setRunning(true);
    setFailure(null);
    try {
      const came = await sendCall(sampleOf(operation, values), method, body !== null && !body.json);
      if (mine === latest.current) setAnswer(came);
    } catch {
      if (mine === latest.current) {
        setAnswer(null);
        setFailure('The server did not answer. The ledger says whether the call had an effect.');
      }
    }
    if (mine === latest.current) setRunning(false);
  };

  return (
    <form
      className="grid gap-4 pt-1 pb-6"
      onSubmit={(event) => {
        event.preventDefault();
        void run();
      }}
    >
      {parameters.length > 0 && (
        <div className="grid gap-3 sm:grid-cols-2 xl:grid-cols-3">
          {parameters.map((parameter) => {
            const key = `${parameter.place} ${parameter.name}`;
            return (
              <ParameterField
                key={key}
                parameter={parameter}
                value={values.parameters[key] ?? ''}
                onChange={(value) => onValues({ ...values, parameters: { ...values.parameters, [key]: value } })}
              />
            );
          })}
        </div>
      )}
      {body !== null && (
        <div className="block min-w-0">
          <label className="field-name" htmlFor={bodyId}>
            Body, {body.json ? 'JSON' : 'as text'}
          </label>
          <textarea
            id={bodyId}
            className="input min-h-20 font-mono text-[0.8125rem]"
            rows={Math.min(16, values.body.split('\n').length + 1)}
            spellCheck={false}
            value={values.body}
            aria-invalid={bodyError === null ? undefined : true}
            aria-describedby={bodyError === null ? undefined : `${bodyId}-error`}
            onChange={({ target }) => onValues({ ...values, body: target.value })}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
                event.preventDefault();
                event.currentTarget.form?.requestSubmit();
              }
            }}
          />
          {bodyError !== null && (
            <p id={`${bodyId}-error`} className="complaint mt-1">
              {bodyError}
            </p>
          )}
        </div>
      )}
      <div className="flex flex-wrap gap-2">
        <button type="submit" className="button button-ink" aria-busy={running}>
          {running ? 'Running…' : 'Run'}
        </button>
        {onKeep !== undefined && (
          <button type="button" className="button" onClick={onKeep}>
            Keep in the notebook
          </button>
        )}
      </div>
      <div aria-live="polite">
        {failure !== null && <p className="outcome outcome-bad">{failure}</p>}
        {answer !== null && <AnswerView answer={answer} />}
      </div>
      <CallTexts call={sampleOf(operation, values)} origin={origin} />
      <dl className="grid gap-3 text-small">
        <CallContract operation={operation} />
      </dl>
    </form>
  );
}
