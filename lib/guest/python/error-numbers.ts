/**
 * The numbers of errors in the text of Python's OSError: Linux's, in place of those that WASI gives the interpreter.
 * Only the text: `errno` and the module of that name go on agreeing with each other.
 */

/** Python asks at `ERROR_TEXT_PATH/FROM/TO` that the type TO gets its text where the type FROM does. */
const ERROR_TEXT_PATH = '/dev/.error-text';
const QUESTION = /^\/dev\/\.error-text\/(\d{1,10})\/(\d{1,10})$/;
/** Where a type of CPython 3.13 has `tp_str`, in bytes, with pointers of 32 bits. */
const TEXT_SLOT = 68;

/**
 * Gives the type of the second address in `path` the function for its text that the first one has.
 *
 * @param view The interpreter's memory.
 * @returns Whether `path` asks for that.
 * @throws RangeError when an address is outside the memory.
 */
export function takesErrorText(path: string, view: DataView): boolean {
  const [, from, to] = QUESTION.exec(path) ?? [];
  if (from === undefined || to === undefined) return false;
  view.setUint32(Number(to) + TEXT_SLOT, view.getUint32(Number(from) + TEXT_SLOT, true), true);
  return true;
}

/** Linux's errors, each at its number. */
const LINUX_ERRORS =
  '- EPERM ENOENT ESRCH EINTR EIO ENXIO E2BIG ENOEXEC EBADF ECHILD EAGAIN ENOMEM EACCES EFAULT ENOTBLK EBUSY ' +
  'EEXIST EXDEV ENODEV ENOTDIR EISDIR EINVAL ENFILE EMFILE ENOTTY ETXTBSY EFBIG ENOSPC ESPIPE EROFS EMLINK EPIPE ' +
  'EDOM ERANGE EDEADLK ENAMETOOLONG ENOLCK ENOSYS ENOTEMPTY ELOOP - ENOMSG EIDRM ECHRNG EL2NSYNC EL3HLT EL3RST ' +
  'ELNRNG EUNATCH ENOCSI EL2HLT EBADE EBADR EXFULL ENOANO EBADRQC EBADSLT - EBFONT ENOSTR ENODATA ETIME ENOSR ' +
  'ENONET ENOPKG EREMOTE ENOLINK EADV ESRMNT ECOMM EPROTO EMULTIHOP EDOTDOT EBADMSG EOVERFLOW ENOTUNIQ EBADFD ' +
  'EREMCHG ELIBACC ELIBBAD ELIBSCN ELIBMAX ELIBEXEC EILSEQ ERESTART ESTRPIPE EUSERS ENOTSOCK EDESTADDRREQ ' +
  'EMSGSIZE EPROTOTYPE ENOPROTOOPT EPROTONOSUPPORT ESOCKTNOSUPPORT ENOTSUP EPFNOSUPPORT EAFNOSUPPORT EADDRINUSE ' +
  'EADDRNOTAVAIL ENETDOWN ENETUNREACH ENETRESET ECONNABORTED ECONNRESET ENOBUFS EISCONN ENOTCONN ESHUTDOWN ' +
  'ETOOMANYREFS ETIMEDOUT ECONNREFUSED EHOSTDOWN EHOSTUNREACH EALREADY EINPROGRESS ESTALE EUCLEAN ENOTNAM ENAVAIL ' +
  'EISNAM EREMOTEIO EDQUOT ENOMEDIUM EMEDIUMTYPE ECANCELED ENOKEY EKEYEXPIRED EKEYREVOKED EKEYREJECTED EOWNERDEAD ' +
  'ENOTRECOVERABLE ERFKILL -';

/** Lines of a Python function that change the text of OSError and of the kinds of it that there are. */
export const ERROR_NUMBERS_SETUP: readonly string[] = [
  ' import errno, gc',
  ` linux = {name: number for number, name in enumerate(${JSON.stringify(LINUX_ERRORS)}.split())}`,
  ' linux = {number: linux[name] for number, name in errno.errorcode.items() if name in linux}',
  // Not `OSError.__str__`: what was looked up once stays, whatever the dictionary says then.
  ' own = gc.get_referents(OSError.__dict__)[0]',
  ' words, plain_text = os.strerror, own["__str__"]',
  ' def text_of(self):',
  '  number = self.errno',
  '  if type(number) is not int or number not in linux or self.strerror != words(number):',
  '   return plain_text(self)',
  '  text = f"[Errno {linux[number]}] {self.strerror}"',
  '  if self.filename is None:',
  '   return text',
  '  return f"{text}: {self.filename!r}" + ("" if self.filename2 is None else f" -> {self.filename2!r}")',
  ' class Written:',
  '  __str__ = text_of',
  ' own["__str__"] = text_of',
  ' kinds = [OSError]',
  ' for kind in kinds:',
  '  kinds += kind.__subclasses__()',
  `  os.chmod(f"${ERROR_TEXT_PATH}/{id(Written)}/{id(kind)}", 0)`,
];
