"""The words of llms.txt and llms-full.txt, in both languages."""

ABOUT = {
    "zh": "每一页是一个问题：先给结论，再给能直接运行的代码。{copyright}。"
    "引用时请写明页面的地址。",
    "en": "A page is a question: the verdict first, then code that runs as pasted. "
    "{copyright}. When you quote a page, give its address.",
}
CHECKED = {
    "zh": "生成网站时，每个代码块都运行过（注明没有运行的除外），输出逐字比较过；"
    "正文里的小数、百分比、分数和表格里的数，都由本页的代码重新算出。"
    "没有覆盖的，见[这里怎么验证]({verification})。",
    "en": "When the site was built, every block of code was run, unless it says that "
    "it was not, and its output compared; every decimal, percentage, fraction and "
    "table number in the text was recomputed by the code of its page. What that does "
    "not cover: [how this is verified]({verification}).",
}
DRAFT = {
    "zh": "这是草稿：有的代码块还没有验证，数字也不作数。",
    "en": "This is a draft: some blocks of code are not verified, nor are the figures.",
}
PACKAGE = {
    "zh": "代码用到的 ppo_ref：`pip install` 加 [这个 wheel]({wheel}) 的完整地址。",
    "en": "The code uses ppo_ref: `pip install` and the full address of "
    "[this wheel]({wheel}).",
}
FULL = {
    "zh": "[全部页面在一个文件里]({full})；[English]({other})。",
    "en": "[All pages in one file]({full}); [中文]({other}).",
}
ADDRESS = {"zh": "地址", "en": "Address"}
LANGUAGE = {"zh": "语言", "en": "Language"}
ANSWER = {"zh": "简答", "en": "Short answer"}
ALSO = {"zh": "也有人这样问", "en": "Also asked as"}
VERIFIED = {"zh": "验证", "en": "Verified"}
COLON = {"zh": "：", "en": ": "}
BETWEEN = {"zh": "；", "en": "; "}
