"""content: a document whose element has a content model of 3,600 characters, and then a prefix and a name of 900."""

model = ", ".join("e%d" % i for i in range(530))
print("<!DOCTYPE a [<!ELEMENT a (%s, %s:%s)>]><a><b/></a>" % (model, "p" * 900, "n" * 980))
