/**
 * What the browser has before any other code of the console runs: its one Trusted Types policy, and the guards that
 * keep a page whose server goes away. Scripts come only from the build's own files. No string becomes markup, except
 * the empty script from which React makes its script elements.
 */
import { guardedFetch } from '#components/live/guarded-fetch.ts';
import { guardLeaving } from '#components/live/leave-guard.ts';
import { askWhenWoken } from '#components/live/server-reach.ts';

interface TrustedTypesFactory {
  createPolicy(
    name: string,
    rules: { createHTML(text: string): string | null; createScriptURL(url: string): string | null },
  ): unknown;
}

const REACT_SCRIPT_TEMPLATE = '<script></script>';

function isOurCode(address: string): boolean {
  if (!URL.canParse(address, location.href)) return false;
  const { origin, pathname } = new URL(address, location.href);
  return origin === location.origin && pathname.startsWith('/_next/static/');
}

(window as { trustedTypes?: TrustedTypesFactory }).trustedTypes?.createPolicy('default', {
  createHTML: (text) => (text === REACT_SCRIPT_TEMPLATE ? text : null),
  createScriptURL: (address) => (isOurCode(address) ? address : null),
});

window.fetch = guardedFetch(window.fetch.bind(window));
guardLeaving();
askWhenWoken();
