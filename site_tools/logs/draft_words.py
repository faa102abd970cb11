"""What a draft says besides the chat, in the language of the page it may become."""

TEMPLATE = {
    "en": """\
## To be written { #answer }

**To be written.** The verdict first, in bold; at most 60 words.

## To be written: code that asserts it { #code }

```python
raise NotImplementedError("assert the answer")
```

## You may ask next { #next }

- To be written

## From the chat, unverified { #chat }
""",
    "zh": """\
## 待写 { #answer }

**待写。** 先写结论，加粗；最多 90 个字。

## 待写：断言这个结论的代码 { #code }

```python
raise NotImplementedError("assert the answer")
```

## 接着问 { #next }

- 待写

## 聊天原文，未经验证 { #chat }
""",
}
ASKED = {"en": "Asked, question {}", "zh": "原来的问题 {}"}
ANSWERED = {"en": "Answered, question {}", "zh": "原来的回答 {}"}
TO_DO = {
    "en": """\
To do; then delete this comment. Lines are those of the draft as it was made.

- Begin a page with this file: make new PAGE=TOPIC/ID ARGS="--draft FILE"
- Write the answer, and the code that asserts it.
- Take over from the section #chat what holds, then delete that section. A chat of your
  own is no source for a wrong answer: where only it was wrong, write what is right.
""",
    "zh": """\
待办，做完删掉这段注释。行号是刚起草时的。

- 用这个文件起一页：make new PAGE=TOPIC/ID ARGS="--draft FILE"
- 写结论，写断言它的代码。
- 从 #chat 一节里取走站得住的，然后整节删掉。自己的聊天不能当错误回答的出处：
  只有它说错了的，写出对的就行。
""",
}
KNOWN = {
    "en": "Perhaps answered already at {}: read that page first.\n\n",
    "zh": "{} 也许已经答了：先读那一页。\n\n",
}
CODE = {
    "en": "- Code: {} blocks, none was run. What you take over becomes ```python.\n",
    "zh": "- 代码：{} 块，都没有运行过。取走的改成 ```python。\n",
}
FIGURES = {
    "en": """\
- Figures that nobody has computed: bind each to what your code computes, as in
  `0.5`{ data-is="expression" }, or delete it.
""",
    "zh": """\
- 没有人算过的数字：绑定到你的代码算出的值，写成
  `0.5`{ data-is="表达式" }，或者删掉。
""",
}
PLACES = {
    "en": """\
- Lines that nobody has read: read each in a release, and write it into
  docs/facts/CONCEPT.yml as release, path, lines, hash, quote, or delete it.
  After make ready, make check PAGE=docs/facts/CONCEPT.yml gives lines and hash.
""",
    "zh": """\
- 没有人读过的代码行：在某个版本里读过，写进 docs/facts/CONCEPT.yml
  （release、path、lines、hash、quote），或者删掉。先 make ready，再跑
  make check PAGE=docs/facts/CONCEPT.yml，它会说该写的行号和 hash。
""",
}
AT = {"en": "  - line {}: {}\n", "zh": "  - 第 {} 行：{}\n"}
NOWHERE = {"en": "(nothing)", "zh": "（空）"}
