// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of what is changed.
/**
 * Patches of just-bash's awk: functions that answered otherwise than gawk's with success. bash-patches.ts applies them
 * behind those of awk-language-patches.ts; `$functions` is awk-functions.ts.
 */
import { AWK_FILE, type BashPatch } from './bash-patch.ts';

const change = (from: string, to: string): BashPatch => ({ file: AWK_FILE, from, to });

export const AWK_FUNCTION_PATCHES: readonly BashPatch[] = [
  // Any other character was a variable's name: `@include "x"` did nothing.
  change(
    'default:return{type:i.IDENT,value:r,line:t,column:n}}}isDigit',
    'default:if(r!==".")throw new Error(`syntax error at or near ${r}`);return{type:i.IDENT,value:r,line:t,column:n}}}isDigit',
  ),
  // A backslash in front of anything but `&` and itself stands for itself.
  change('r.append("\\\\"),s+=2):(r.append(e[s+1]),s+=2)', 'r.append("\\\\"),s+=2):(r.append("\\\\"),s+=1)'),
  // The slashes of a text are part of the pattern.
  change('return n.startsWith("/")&&n.endsWith("/")&&(n=n.slice(1,-1)),n}', 'return n}'),
  change('L(await n.evalExpr(e[0])).toUpperCase()', '$functions.upper(L(await n.evalExpr(e[0])))'),
  change('L(await n.evalExpr(e[0])).toLowerCase()', '$functions.lower(L(await n.evalExpr(e[0])))'),
  change(
    'String(y??"").charAt(0)||""),A===void 0&&r++;break}case"%"',
    'String.fromCodePoint(...Array.from(String(y??"")).slice(0,1).map($each=>$each.codePointAt(0))),f,k),A===void 0&&r++;break}case"%"',
  ),
  change('c(typeof y=="number"?String.fromCodePoint', '$padded(typeof y=="number"?String.fromCodePoint'),
  change(
    'c=u=>{let f=V(u);if(f>n-a)',
    '$padded=($text,$flags,$width)=>{let $to=parseInt($width,10)||0;c($flags.includes("-")?$text.padEnd($to):$text.padStart($to))},c=u=>{let f=V(u);if(f>n-a)',
  ),
  // The same seed gives the same numbers; `srand` answers with the seed before.
  change('return t.random?t.random():Math.random()', 'return $functions.random(t)'),
  change(
    'F(await n.evalExpr(e[0])):Date.now();return t.vars._srand_seed=r,r}',
    'F(await n.evalExpr(e[0])):$awk.systime();return $functions.seed(t,r)}',
  ),
  // What is no number was 0.
  ...['f', 'e', 'g'].map((letter) => {
    const upper = letter === 'f' ? '' : `case"${letter.toUpperCase()}":`;
    const read = `case"${letter}":${upper}{let p=y!==void 0?Number(y):0;`;
    return change(`${read}Number.isNaN(p)&&(p=0);`, `${read}if(Number.isNaN(p)){c("-nan"),A===void 0&&r++;break}`);
  }),
  // `exit` without a number in END keeps the one before.
  change('()=>E(e,n)))):0}break;case"return"', '()=>E(e,n)))):e.exitCode}break;case"return"'),
];
