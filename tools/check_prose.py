#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks the English of comments, documents, manual pages and messages.
  tools/check_prose.py [--summary] [PATH…]

Refuses the constructions in RULES, and sentences in README.md and docs/**/*.md that are too long. Prints "FILE:LINE:
rule: excerpt" for each problem, and exits with 1 if there are any. With PATH, checks only these files and folders. With
--summary, prints only a table: problems in each folder, sentence lengths in each document.

Checks comments and Python docstrings in all folders, sentences in the string literals of MESSAGES, Markdown, scdoc,
text in SVG pictures, systemd units and the descriptions in debian. Refuses a few words in the identifiers of NAMED.
Does not check code blocks and code spans, text in double quotes (quotations), other identifiers, strings without a
space (JSON keys, columns), and test data. EXCEPTIONS lists permitted exceptions, each with a reason."""
import argparse
import bisect
import os
import re
import statistics
import sys
from typing import NamedTuple


class Rule(NamedTuple):
    name: str
    pattern: re.Pattern
    advice: str


def phrase(name, pattern, advice):
    return Rule(name, re.compile(rf'\b(?:{pattern})\b', re.IGNORECASE), advice)


def start(name, pattern, advice):
    """Makes a rule for the start of a comment or sentence."""
    return Rule(name, re.compile(rf'\A(?:{pattern})', re.IGNORECASE), advice)


# Wrong words and phrases, at any position. The text after a phrase is advice, which is printed once for each rule.
PHRASES = (
    phrase('told', r'told(?! apart)', 'reported, shown, known, stated; "duplicate event" for "told twice"'),
    phrase('tells', r'tells(?! (?:\S+ ){1,5}(?:to|apart|from)\b)', 'shows, reports, says which; or name the actor'),
    phrase('is said', r'(?:is|are|was|were|be|been|being) said', 'is reported, is stated'),
    phrase('but for', r'but for', 'except'),
    phrase('but that of', r'but (?:that|those) of', 'except'),
    phrase('all but', r'(?:all|none|any|every|each) but(?! (?:the )?(?:last|first))', 'all except'),
    phrase('the begin', r'(?:the|its|their|whose|each) begin', 'the start'),
    phrase('nobody', r'nobody(?:\'s)?', 'no one, no process, unknown, unaccounted; or name the subject'),
    phrase('whoever', r'(?:who|whom)(?:so)?ever', 'name the subject'),
    phrase('for ever', r'for ever', 'never freed, never ends, without limit'),
    phrase('behind', r'(?<!left )(?<!leave )(?<!leaves )(?<!leaving )(?<!fall )(?<!falls )(?<!lag )(?<!lags )'
           r'(?<!hide )(?<!hides )(?<!hidden )behind(?! the scenes)', 'after, follows; "backing" for memory'),
    phrase('what is known of', r'that (?:is|are) known of|known of', 'that kmemtrace knows; known'),
    phrase('at hand', r'at hand', 'available'),
    phrase('speaks against', r'speaks? against', 'no sign of'),
    phrase('bear out', r'bears? (?:it|this|that|them) out|borne out', 'confirm'),
    phrase('no news', r'(?:is|are) no news', 'is expected'),
    phrase('came no further', r'(?:came|comes?|gets?) no further', 'stopped'),
    phrase('at any rate', r'at any rate', 'leave it out, or: at least'),
    phrase('in any case', r'in any case', 'always'),
    phrase('how seldom', r'(?:how|more) seldom', 'how rarely; p-value'),
    phrase('that often', r'that often', 'every T, N times'),
    phrase('as is', r'as is (?=the|that|what|one)', 'like'),
    phrase('it is of', r'it is of (?=a|an|the|one|what)', 'belongs to'),
    phrase('of which', r'(?<!, )(?<!all )(?<!some )(?<!most )(?<!each )(?<!none )(?<!both )(?<!either )(?<!any )of which',
           'split the sentence; whose'),
    phrase('for what', r'for what it (?:costs?|takes|has|is|needs)', 'because of, limits'),
    phrase('there can be', r'(?<!where )there can be(?! (?:no|only|at most|one|a|an|up)\b)', 'not applicable, may be'),
    phrase('may be got', r'(?:is|are|may be|was|were|be) got', 'is allocated, obtained, read'),
    phrase('has itself', r'what it has itself', 'name the thing'),
    phrase('surely', r'(?:sure|surest|surely) (?:grows|to|to blame|growth|growing)', 'growth confirmed'),
    phrase('candidate for reuse', r'candidates? for reuse', 'could be cached or reused'),
    phrase('left by options', r'leave some out', 'drop, omit'),
    phrase('both tellings', r'(?:both|either|each|second|first) tellings?|tellings?', 'duplicate event'),
    phrase('as when', r'as (?:where|whoever|when)(?= (?:it|there|they|nothing|one|a|an|the) )', 'if, like'),
)

STARTS = (
    start('Of …', r'(?-i:Of )(?!course\b)', 'put the subject first'),
    start('What …', r'(?-i:(?!WHAT))What(?:\'s)?\s(?!if\b)(?!.*\?[\x7f\s]*\Z)', 'put the subject first: "Returns…", or name the thing'),
    start('Where …, …', r'Where\s(?=[^,]*,)(?!.*\?[\x7f\s]*\Z)', '"If …" or the rule first, the exception after it'),
    start('Who …', r'(?:Who|Whose|Whom)\s(?!.*\?[\x7f\s]*\Z)', 'name the subject'),
    start('By which …', r'(?:By|With|From|To|In|For|At|On) (?:what|which|whom|whose)\b(?!.*\?[\x7f\s]*\Z)', 'put the subject first'),
)

# These apply to comments and documents. A message may be a part of a sentence, such as "of an unknown type".
FRAGMENTS = (start('of a …', r'(?-i:of an? )', 'name the thing'),)

# A rule for identifiers.
IDENTIFIER = Rule('identifier', re.compile(
    r'\w*(?:(?:(?<![A-Za-z])(?:told|tells|nobody|behind)|Told|Tells|Nobody|Behind)(?![a-z])|\bkHides)\w*'),
                  'a name says what the thing is: reported, shows, no_process, after, kImplies…')

RULES = (*PHRASES, *STARTS, *FRAGMENTS)


class Exempt(NamedTuple):
    path: str  # start of the path of a file; '' means all files
    text: str  # a problem is ignored if it is inside this text
    reason: str


EXCEPTIONS = (
    Exempt('src/views/', "What grows in the kernel's memory", 'headline of an investigation, in the words of the question'),
    Exempt('web/src/views/', 'What grows', 'heading, in the words of the question'),
    Exempt('web/src/views/', 'What stands out', 'heading, in the words of the question'),
    Exempt('', 'tells apart', 'the English for "distinguishes"'),
)

# Limits for documents. Even a short document may have one long sentence.
MOST_WORDS = 30
LONG_SHARE = 0.08
MEDIAN_WORDS = 15

COMMENTED = {
    '.cpp': 'c', '.hpp': 'c', '.c': 'c', '.h': 'c', '.def': 'c', '.in': 'c', '.ts': 'js', '.mjs': 'js', '.js': 'js',
    '.css': 'c', '.html': 'html', '.py': 'hash', '.sh': 'hash', '.cmake': 'hash', '.yml': 'hash', '.supp': 'hash',
    '.test': 'lines', '.sql': 'sql', '.md': 'markdown', '.scd': 'scdoc', '.txt': 'hash', '.svg': 'svg',
    '.service': 'unit', '.source': 'plain',
}
SKIPPED_FOLDERS = ('.git', 'data', 'node_modules', 'out', '__pycache__')
MESSAGES = (('src/', 'c'), ('web/src/', 'js'))  # folders and languages
NAMED = ('src/', 'tests/', 'web/', 'tools/', 'bench/')  # folders with identifiers to check
CODE_FILES = ('.cpp', '.hpp', '.c', '.h', '.py', '.ts', '.mjs', '.js')


class Text(NamedTuple):
    """A comment, paragraph or message. `text` has blanks instead of line breaks, and `lines` contains the line number
    of each character. Headings and table cells are not sentences."""
    text: str
    lines: list
    is_sentence: bool


def joined(pieces, is_sentence=True):
    """Joins pieces of (line, words) to one Text."""
    text, lines = '', []
    for line, words in pieces:
        words = words.strip()
        if words:
            words = words if not text else ' ' + words
            text += words
            lines += [line] * len(words)
    return Text(text, lines, is_sentence)


# -- comments and strings ----------------------------------------------------------------------------------------------

C_TOKEN = re.compile(r'''
    (?P<comment>//[^\n]*|/\*.*?\*/)
  | R"(?P<mark>[^()\\\s]{0,16})\((?P<raw>.*?)\)(?P=mark)"
  | (?P<string>"(?:\\.|[^"\\\n])*")
  | (?P<other>\b\d[\w.']*|'(?:\\.|[^'\\\n])+')''', re.VERBOSE | re.DOTALL)
JS_TOKEN = re.compile(r'''
    (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<string>"(?:\\.|[^"\\\n])*")
  | (?P<raw>`(?:\\.|\$\{(?:[^`{}]|`[^`]*`|\{[^{}]*\})*\}|[^`\\])*`)
  | (?P<other>'(?:\\.|[^'\\\n])*'|(?<=[=(,:!&|?;{}\n])\s*/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n])+/)''',
                      re.VERBOSE | re.DOTALL)
HASH_TOKEN = re.compile(r'''
    (?P<doc>(?:(?<=\n)|\A)[ ]*[rf]?(?P<quotes>"""|\'\'\')(?P<words>.*?)(?P=quotes))
  | (?P<text>[rbf]*(?P<triple>"""|\'\'\').*?(?P=triple))
  | (?P<comment>(?:(?<=[\s;])|\A)\#[^\n]*)
  | (?P<other>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\\n])*'|\\.)''', re.VERBOSE | re.DOTALL)
JS_INSERT = re.compile(r'\$\{(?:[^`{}]|`[^`]*`|\{[^{}]*\})*\}')  # a value in a template
SQL_TOKEN = re.compile(r'''(?P<comment>--[^\n]*|(?:(?<=\n)|\A)\#[^\n]*|/\*.*?\*/)|(?P<other>'(?:''|[^'])*')''',
                       re.VERBOSE | re.DOTALL)
LINES_TOKEN = re.compile(r'(?:(?<=\n)|\A)(?P<comment>#[^\n]*)')
HTML_TOKEN = re.compile(r'(?P<comment><!--.*?-->)', re.DOTALL)
TOKENS = {'c': C_TOKEN, 'js': JS_TOKEN, 'hash': HASH_TOKEN, 'sql': SQL_TOKEN, 'lines': LINES_TOKEN, 'html': HTML_TOKEN}
MARKS = re.compile(r'^\s*(?://[/!]?<?|/\*+|\*(?!\w)|#+!?|--+|<!--)?\s?|\s*(?:\*/|-->)\s*$')
NOT_PROSE = re.compile(r'SPDX|NOLINT|clang-format|shellcheck|noqa|eslint|prettier|^\s*(?:[{});]|\((?!\w))|pragma|^!')


def line_numbers(source):
    """Returns a function that maps an offset to its line and column."""
    starts = [0] + [match.end() for match in re.finditer('\n', source)]

    def line_of(offset):
        line = bisect.bisect_right(starts, offset)
        return line, offset - starts[line - 1]
    return line_of


def comment_texts(source, language):
    """Yields the comments of a file. Line comments in consecutive lines and the same column are one comment."""
    line_of = line_numbers(source)
    lines = source.split('\n')
    open_pieces, last_line, last_column = [], -1, -1
    for match in TOKENS[language].finditer(source):
        words = match.group('comment')
        if words is None:
            words = match.group('words') if language == 'hash' else None
            if words is None:
                continue
        line, column = line_of(match.start())
        alone = not lines[line - 1][:column].strip()
        if not alone or line != last_line + 1 or column != last_column or words.startswith('/*'):
            yield joined(open_pieces)
            open_pieces = []
        for number, part in enumerate(words.split('\n')):
            part = MARKS.sub('', part)
            if not part.strip() or NOT_PROSE.search(part) or (number and part.startswith('    ')):
                yield joined(open_pieces)  # an empty line or an example ends the paragraph
                open_pieces = []
            else:
                open_pieces.append((line + number, part))
        last_line, last_column = line + words.count('\n'), column
    yield joined(open_pieces)


def raw_texts(words, line):
    """Yields the paragraphs of a raw string that starts in that line."""
    pieces = []
    for number, part in enumerate(words.split('\n')):
        if not part or part.startswith((' ', '{', '<')):
            yield joined(pieces)
            pieces = []
        else:
            pieces.append((line + number, part))
    yield joined(pieces)


def c_messages(source):
    """Yields the string literals that contain a sentence. Adjacent literals are joined. Indented lines of raw strings
    are examples, which are skipped."""
    line_of = line_numbers(source)
    pieces, end = [], 0
    for match in C_TOKEN.finditer(source):
        if match.group('raw') is not None:
            yield from raw_texts(match.group('raw'), line_of(match.start('raw'))[0])
        if match.group('string') is None:
            continue
        if source[end:match.start()].strip():
            yield joined(pieces)
            pieces = []
        words = match.group('string')[1:-1]
        for part in re.split(r'(?:\\n)+', words):
            pieces.append((line_of(match.start())[0], part.replace('\\"', '"')))
        end = match.end()
    yield joined(pieces)


def js_messages(source, first_line=1):
    """Yields the string literals, and the literal parts of templates. Literals joined by + are one text."""
    line_of = line_numbers(source)
    pieces, end = [], 0
    for match in JS_TOKEN.finditer(source):
        words = match.group()
        if words[0] not in '"\'`':
            continue
        line = first_line + line_of(match.start())[0] - 1
        if source[end:match.start()].strip() not in ('', '+'):
            yield joined(pieces)
            pieces = []
        if words[0] == '`':
            for inner in JS_INSERT.finditer(words):
                yield from js_messages(inner.group()[2:-1], line + words[:inner.start()].count('\n'))
            words = JS_INSERT.sub('\x7f', words)
        for part in re.split(r'(?:\\n)+', words[1:-1]):
            pieces.append((line, re.sub(r'\\(.)', r'\1', part)))
        end = match.end()
    yield joined(pieces)


MESSAGES_OF = {'c': c_messages, 'js': js_messages}


# -- documents ---------------------------------------------------------------------------------------------------------

LIST_ITEM = re.compile(r'^\s*(?:[-*+]|\d+[.)])\s+')


def markdown_texts(source):
    """Yields paragraphs, list items, headings and table cells."""
    pieces, fenced, comment, example = [], False, False, True
    for number, line in enumerate(source.split('\n'), 1):
        if comment or line.lstrip().startswith('<!--'):
            comment = '-->' not in line
            continue
        if re.match(r'^\s*(```|~~~)', line):
            fenced = not fenced
        blank = not line.strip()
        code = fenced or re.match(r'^\s*(```|~~~)', line) or (line.startswith('    ') and example)
        lone = line.startswith('#') or line.lstrip().startswith('|') or re.match(r'^\s*\[[^\]]+\]:', line)
        if blank or code or lone or LIST_ITEM.match(line):
            yield joined(pieces)
            pieces = []
        if lone and not code:
            for cell in line.strip('#| \n').split(' | '):
                yield joined([(number, cell)], False)
        elif not blank and not code:
            pieces.append((number, LIST_ITEM.sub('', line).lstrip('> ')))
        example = code or (blank and example) or (blank and not pieces) or line.startswith('#')
        if not blank and not code and not line.startswith('#'):
            example = False
    yield joined(pieces)


def scdoc_texts(source):
    pieces, fenced = [], False
    for number, line in enumerate(source.split('\n'), 1):
        if line.startswith('```'):
            fenced = not fenced
        if fenced or not line.strip() or line.startswith(('```', '#', ';')) or LIST_ITEM.match(line):
            yield joined(pieces)
            pieces = []
        if not fenced and line.strip() and not line.startswith(('```', '#', ';')):
            pieces.append((number, re.sub(r'[*_\\]', '', LIST_ITEM.sub('', line))))
    yield joined(pieces)


def svg_texts(source):
    """Yields the comments and the text of each element of a picture."""
    yield from comment_texts(source, 'html')
    line_of = line_numbers(source)
    for match in re.finditer(r'<(?:text|tspan|title|desc)\b[^>]*>([^<]+)', source):
        yield joined([(line_of(match.start(1))[0], match.group(1))])


def unit_texts(source):
    """Yields the comments and the description of a systemd unit."""
    yield from comment_texts(source, 'lines')
    for number, line in enumerate(source.split('\n'), 1):
        if line.startswith('Description='):
            yield joined([(number, line.partition('=')[2])])


def plain_texts(source):
    """Yields the paragraphs of plain text."""
    pieces = []
    for number, line in enumerate(source.split('\n') + [''], 1):
        if line.strip():
            pieces.append((number, line))
        else:
            yield joined(pieces)
            pieces = []


def control_texts(source):
    """Yields the descriptions of the packages in debian/control: a heading, then indented paragraphs."""
    pieces, described = [], False
    for number, line in enumerate(source.split('\n') + [''], 1):
        if line.startswith('Description:'):
            yield joined([(number, line.partition(':')[2])])
            described = True
        elif described and line.startswith(' ') and line.strip() != '.':
            pieces.append((number, line))
        else:
            yield joined(pieces)
            pieces, described = [], described and line.startswith(' ')


# -- checks ------------------------------------------------------------------------------------------------------------

# The rules do not apply to code spans, quotations, addresses of links, option names, identifiers and function calls.
CODE = re.compile(r'``.+?``|`[^`]*`|"[^"]*"|\]\([^)]*\)|https?://\S+|(?<!\w)--?[a-z][\w-]*|\b\w*(?:_\w+)+\b|\b\w+\(\)|\w+::\w+'
                  r'|\b[\w-]+(?:\.\w+)*/[\w./-]+|\b\w+\.(?:[ch]pp|[ch]|py|md|json|sql|ts)\b|<[^<>]*>')
SENTENCE_END = re.compile(r'(?<=[.!?])["\')*]*\s+(?=[A-Z0-9`"(\[*])|(?<=[.!?])["\')*]+\s+(?=[A-Z])')


def sentences(text):
    """Yields each sentence of the text with its offset, as (offset, sentence)."""
    offset = 0
    for end in SENTENCE_END.finditer(text):
        yield offset, text[offset:end.end()].strip()
        offset = end.end()
    if text[offset:].strip():
        yield offset, text[offset:].strip()


def exempt(path, text, position):
    for exception in EXCEPTIONS:
        if path.startswith(exception.path):
            for match in re.finditer(re.escape(exception.text), text):
                if match.start() <= position < match.end():
                    return True
    return False


def excerpt(text, begin, end):
    begin, end = max(0, begin - 30), min(len(text), end + 40)
    while begin > 0 and not text[begin - 1].isspace():
        begin -= 1
    while end < len(text) and not text[end].isspace():
        end += 1
    return ('…' if begin else '') + text[begin:end] + ('…' if end < len(text) else '')


def check_text(path, text, is_message=False):
    """Yields the problems of one Text as (line, rule's name, excerpt)."""
    starts = STARTS if is_message else STARTS + FRAGMENTS
    blanked = CODE.sub(lambda match: '\x7f' * len(match.group()), text.text)
    for rule in PHRASES:
        for match in rule.pattern.finditer(blanked):
            if not exempt(path, text.text, match.start()):
                yield text.lines[match.start()], rule.name, excerpt(text.text, *match.span())
    for offset, sentence in sentences(blanked) if text.is_sentence else ():
        skipped = len(sentence) - len(sentence.lstrip('*( '))
        for rule in starts:
            if rule.pattern.match(sentence[skipped:]) and not exempt(path, text.text, offset + skipped):
                yield text.lines[offset], rule.name, excerpt(text.text, offset, offset + 30)


def words_of(sentence):
    plain = re.sub(r'!?\[([^\]]*)\]\([^)]*\)', r'\1', sentence)
    return sum(bool(re.search(r'\w', word)) for word in plain.split())


def sentence_lengths(source):
    """Yields each sentence of a Markdown document, as (line, words, sentence)."""
    for text in markdown_texts(source):
        if text.is_sentence:
            for offset, sentence in sentences(text.text):
                if not sentence.startswith('!['):
                    yield text.lines[offset], words_of(sentence), sentence


def check_lengths(source):
    lengths = list(sentence_lengths(source))
    if not lengths:
        return
    long = [entry for entry in lengths if entry[1] > MOST_WORDS]
    if len(long) > 1 and len(long) >= LONG_SHARE * len(lengths):
        for line, words, sentence in long:
            yield line, 'long', f'{words} words: {excerpt(sentence, 0, 50)}'
    median = statistics.median(words for _, words, _ in lengths)
    if median > MEDIAN_WORDS:
        yield 1, 'median', f'half of the {len(lengths)} sentences have more than {median - 1:g} words; at most {MEDIAN_WORDS}'


def wrong_names(source, language):
    """Yields the refused identifiers of a file, as (line, rule's name, identifier)."""
    if not re.search('[tT]old|[tT]ells|[nN]obody|[bB]ehind|kHides', source):
        return  # the search below is slow
    code = TOKENS[language].sub(lambda match: re.sub(r'[^\n]', ' ', match.group()), source)
    line_of = line_numbers(code)
    for match in IDENTIFIER.pattern.finditer(code):
        yield line_of(match.start())[0], IDENTIFIER.name, match.group()


def language_of(path):
    if path == 'debian/control':
        return 'control'
    name = os.path.basename(path)
    ending = os.path.splitext(name)[1]
    if ending == '.txt':
        return 'hash' if name == 'CMakeLists.txt' else None
    return COMMENTED.get(ending)


TEXTS = {'markdown': markdown_texts, 'scdoc': scdoc_texts, 'plain': plain_texts, 'control': control_texts,
         'svg': svg_texts, 'unit': unit_texts}


def check_file(root, path):
    """Yields the problems of a file as (line, rule's name, excerpt), in order of lines."""
    language = language_of(path)
    with open(os.path.join(root, path), encoding='utf-8', errors='replace') as file:
        source = file.read()
    if language is None:
        if not source.startswith('#!'):
            return []
        language = 'hash'
    found, messages = [], []
    if language == 'markdown':
        found += check_lengths(source)
    if language in TEXTS:
        texts = TEXTS[language](source)
    else:
        texts = comment_texts(source, language)
        for folder, of in MESSAGES:
            if language == of and path.startswith(folder):
                messages += [text for text in MESSAGES_OF[language](source) if ' ' in text.text]
        if path.endswith(CODE_FILES) and path.startswith(NAMED):
            found += wrong_names(source, language)
    for text in texts:
        found += check_text(path, text)
    for text in messages:
        found += check_text(path, text, True)
    return sorted(set(found))


def files_of(root, paths):
    """Yields the files to check: those in `paths`, or the whole tree."""
    for top in paths or ['.']:
        if os.path.isfile(os.path.join(root, top)):
            yield os.path.normpath(top)
        for folder, folders, names in os.walk(os.path.join(root, top)):
            folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS and not name.startswith('build'))
            for name in sorted(names):
                path = os.path.relpath(os.path.join(folder, name), root)
                if os.path.isfile(os.path.join(root, path)) and (language_of(path) or '.' not in name):
                    yield path


def check_tree(root, paths=()):
    for path in files_of(root, paths):
        for line, rule, words in check_file(root, path):
            yield path, line, rule, words


def summary(root, paths):
    """Prints the number of problems in each folder, then the sentence lengths in each document."""
    hits = {}
    for path, _, _, _ in check_tree(root, paths):
        folder = '/'.join(path.split('/')[:2]) if '/' in path else path
        hits[folder] = hits.get(folder, 0) + 1
    for folder, count in sorted(hits.items(), key=lambda entry: -entry[1]):
        print(f'{count:6}  {folder}')
    print(f'{sum(hits.values()):6}  in all\n\nsentences  median  over {MOST_WORDS} words')
    for path in files_of(root, paths):
        if path.endswith('.md'):
            with open(os.path.join(root, path), encoding='utf-8') as file:
                words = [count for _, count, _ in sentence_lengths(file.read())]
            if words:
                share = sum(count > MOST_WORDS for count in words) / len(words)
                print(f'{len(words):9}  {statistics.median(words):6.1f}  {share:5.1%}  {path}')


def main():
    parser = argparse.ArgumentParser(description='Checks the English of comments, documents, manual pages and messages.')
    parser.add_argument('--summary', action='store_true', help='print only the hits of each folder and sentence lengths')
    parser.add_argument('path', nargs='*', help='check these only (default: everything)')
    arguments = parser.parse_args()
    root = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
    paths = [os.path.relpath(os.path.realpath(path), root) for path in arguments.path]
    if arguments.summary:
        summary(root, paths)
        return 0
    seen = set()
    for path, line, rule, words in check_tree(root, paths):
        print(f'{path}:{line}: {rule}: {words}')
        seen.add(rule)
    for rule in (*RULES, IDENTIFIER):
        if rule.name in seen:
            print(f'  {rule.name}: {rule.advice}', file=sys.stderr)
    return 1 if seen else 0


if __name__ == '__main__':
    sys.exit(main())
