"""Irregular pasts and participles with their verbs: a stemmer does not know that who bought something did buy it."""

from __future__ import annotations

PASTS = {
    past: verb
    for verb, _, pasts in (
        pair.partition(":")
        for pair in ["be:been", "become:became", "begin:began,begun", "bite:bit,bitten", "blow:blew,blown", "break:broke,broken", "bring:brought", "build:built", "buy:bought", "catch:caught", "choose:chose,chosen", "come:came", "deal:dealt", "dig:dug", "do:did,done", "draw:drew,drawn", "drink:drank,drunk", "drive:drove,driven", "eat:ate,eaten", "fall:fell,fallen", "feed:fed", "feel:felt", "fight:fought", "find:found", "fly:flew,flown", "forget:forgot,forgotten", "forgive:forgave,forgiven", "freeze:froze,frozen", "get:got,gotten", "give:gave,given", "go:went,gone", "grow:grew,grown", "hang:hung", "have:had", "hear:heard", "hide:hid,hidden", "hold:held", "keep:kept", "know:knew,known", "lay:laid", "lead:led", "leave:left", "lend:lent", "lose:lost", "make:made", "mean:meant", "meet:met", "pay:paid", "ride:rode,ridden", "ring:rang,rung", "rise:rose,risen", "run:ran", "say:said", "see:saw,seen", "seek:sought", "sell:sold", "send:sent", "sew:sewn", "shake:shook,shaken", "shine:shone", "shoot:shot", "show:shown", "sing:sang,sung", "sit:sat", "sleep:slept", "speak:spoke,spoken", "spend:spent", "stand:stood", "steal:stole,stolen", "stick:stuck", "strike:struck", "swear:swore,sworn", "swim:swam,swum", "take:took,taken", "teach:taught", "tear:tore,torn", "tell:told", "think:thought", "throw:threw,thrown", "understand:understood", "wake:woke,woken", "wear:wore,worn", "win:won", "write:wrote,written", "child:children", "foot:feet", "tooth:teeth", "person:people"]
    )
    for past in pasts.split(",")
}
