"""Sentences that ask nothing new: about format, going on, thanks."""

import re

TALK = r"(?:对话|聊天|会话|问答)"
FORMAT = re.compile(
    rf"(?:将|把)?(?:本次|这次|这段|这个|上述|以上|上面的?|整段|整个|全部|我们的){TALK}.{{0,30}}"
    r"(?:写入|写成|写到|存|导出|整理|输出|保存).*"
    r"|(?:把.{0,12})?(?:换成|换|改成|翻译成|译成|翻成|用)(?:英文|中文|英语|汉语)"
    r"(?:回答|写|说|输出|重写|再说)?(?:一遍|一下)?"
    r"|(?:识别|转录|抄录).{0,6}(?:图|图片|截图).*"
    r"|(?:写成|整理成|输出成|输出为|转成)\s*(?:markdown|md|表格|json|latex).{0,10}"
    r"|(?:write|save|export|copy|dump|turn)\b.{0,20}\b(?:this|the|our|whole|entire)\b"
    r".{0,12}\b(?:conversation|chat|dialogue|discussion)\b.*"
    r"|(?:translate|switch|say|answer|repeat|write)\b.{0,24}\b(?:to|into|in) "
    r"(?:english|chinese)(?:,? please)?"
    r"|(?:now )?in (?:english|chinese)(?:,? please)?"
    r"|transcribe\b.*|(?:format|put|give)\b.{0,20}\b(?:as|in|into) (?:an? )?"
    r"(?:markdown|table|json|latex)\b.{0,20}",
    re.I | re.S,
)
FOLLOW_UP = re.compile(
    r"(?:你)?(?:能不能|可不可以|能否|可否|能|可以)?(?:再)?(?:给出|给|举|来)(?:我|一下)?(?:一个|个|几个|一些|些)?(?:具体|数值|简单)?的?"
    r"(?:示例|例子|数值例子|实例)(?:吧|看看)?(?:吗|么|嘛)?"
    r"|(?:这(?:是|又是)?)?(?:为什么|为何|怎么)(?:会|是)?(?:这样|这么说|如此|呢)?(?:的|呢)?"
    r"|(?:but )?why(?: (?:is|does|was) (?:that|this|it)(?: so)?| so| not)?"
    r"|how (?:so|come)"
    r"|继续(?:说|讲|写)?(?:吧|下去)?|还有(?:吗|呢)|然后呢"
    r"|(?:你)?(?:能不能|可不可以|能否|可否|能|可以)?(?:再)?(?:详细|简单|通俗|具体)?(?:一点|一些|点)?(?:地)?"
    r"(?:解释|讲解|讲讲|讲|说明|说说|说)(?:一下|一遍|下|细一点|清楚一点)?"
    r"(?:吗|么|嘛)?"
    r"|(?:我)?(?:还是|仍然)?(?:没|不|没有)(?:太|听|看)?(?:懂|明白|理解)"
    r"|(?:把我)?(?:当做|当作|当成|当)\s*(?:\d+|[一二三四五六七八九十]+)\s*岁.{0,12}"
    r"(?:解释|讲|说).{0,6}"
    r"|(?:can you |could you )?(?:give|show)(?: me)?(?: an?| some| one)?"
    r"(?: concrete| numerical| simple)? examples?"
    r"|(?:continue|go on|carry on|tell me more|more)"
    r"|(?:can you |could you )?explain(?: it| that| this)?(?: again| once more"
    r"| more simply| in more detail| like i(?:'|’)?m .{1,12}| as if i were .{1,12})*"
    r"|i (?:still )?(?:do not|don(?:'|’)t) (?:get|understand|follow)"
    r"(?: it| this| that)?",
    re.I,
)
# A sentence that goes on from what was said, and means little without it.
LEANS = re.compile(
    r"那么?[，,\s]*(?:如果|要是|假如|万一|换成|换作)"
    r"|那么?[，,\s]*[^，,。？?]{1,16}呢[？?]?$"
    r"|(?:那么?)?[，,\s]*(?:在|回到|接着|关于|针对|按)?(?:你)?"
    r"(?:第[一二三四五六七八九十\d]+个(?:问题|例子|回答)|刚才|前面那|上面那|上一个)"
    r"|(?:接着|继续|回到)(?:上面|前面|刚才|上一|这个|那个)"
    r"|(?:and|but|so|then|ok(?:ay)?,?)[, ]+(?:what (?:if|about)|how about|if)\b"
    r"|(?:in|about|back to|going back to) (?:the|your) "
    r"(?:first|second|third|last|previous|earlier) (?:question|answer|example)\b",
    re.I,
)
THANKS = re.compile(
    r"(?:(?:好的?|嗯+|明白了?|懂了|ok(?:ay)?)[，, ]*)?"
    r"(?:非常|十分)?(?:谢谢|多谢|感谢).{0,8}"
    r"|(?:many )?th(?:anks|x|ank you)"
    r"(?: you)?(?: a lot| very much| so much)?",
    re.I,
)
