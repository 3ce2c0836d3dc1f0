/**
 * The console's one Trusted Types policy, set in the browser before any other code runs. Scripts come only from the
 * build's own files. No string becomes markup, except the empty script from which React makes its script elements.
 */

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
