/**
 * What the browser has before any other code of the console runs: its one Trusted Types policy, and the guards that
 * keep a page whose server goes away. Scripts come only from the build's own files. No string becomes markup, except
 * the empty script from which React makes its script elements.
 */

import { keepPage } from '#components/live/keep-page.ts';
import { askWhenWoken } from '#components/live/server-reach.ts';
import { steadyFetch } from '#components/live/steady-fetch.ts';
import { tellZone } from '#components/live/tell-zone.ts';

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

window.fetch = steadyFetch(window.fetch.bind(window));
keepPage();
askWhenWoken();
tellZone();
